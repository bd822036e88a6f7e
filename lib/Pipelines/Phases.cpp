//===- Phases.cpp - The pass list of every phase --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Pipelines/Phases.h"

#include "nested/Conversion/KernelsToStructure/Passes.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToGPU/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"
#include "nested/Target/PTX.h"
#include "nested/Target/TargetSpec.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nested;

//===----------------------------------------------------------------------===//
// tensor -> generic
//===----------------------------------------------------------------------===//

/// Contract of `generic`: `ragged.generic` and a few algorithmic operations;
/// extents that the program needs to be equal are one; moves are in maps.
void nested::buildToGeneric(OpPassManager &pm, const PhaseOptions &options) {
  // Calls first: their symbols are the caller's from then on.
  pm.addPass(ragged::createRaggedInlineCalls());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(ragged::createRaggedVerifyTensor());
  functions.addPass(ragged::createRaggedAbsorbStructure());
  functions.addPass(ragged::createRaggedUnifySymbols());
  functions.addPass(createCSEPass());
  // Kernels of GPUs copy every row that they read into workgroup memory, which
  // the wide rows of hoisted maps don't fit into.
  bool reassociate = options.reassociate && !GPUSpec::isGPU(options.target);
  auto addAlgebra = [&] {
    if (!reassociate)
      return;
    functions.addPass(ragged::createRaggedReduceFirst());
    functions.addPass(ragged::createRaggedHoistLinear());
    // What several linear maps of one sum need is made once.
    functions.addPass(createCSEPass());
  };
  addAlgebra();
  functions.addPass(ragged::createRaggedAutodiff());
  functions.addPass(createCSEPass());
  addAlgebra();
  if (reassociate)
    functions.addPass(ragged::createRaggedSumByRows());
  functions.addPass(ragged::createRaggedGeneralize());
  functions.addPass(ragged::createRaggedFoldMoves());
  functions.addPass(createCSEPass());
  functions.addPass(ragged::createRaggedVerifyGeneric());
}

//===----------------------------------------------------------------------===//
// generic -> kernels
//===----------------------------------------------------------------------===//

/// Contract of `kernels`: `ragged.kernel` operations, each with an iteration
/// space, a grain and a tile shape; fusion is decided.
void nested::buildToKernels(OpPassManager &pm, const PhaseOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Their blocks of registers are written for CPUs.
  if (!GPUSpec::isGPU(options.target))
    functions.addPass(ragged::createRaggedFormContractions());
  ragged::RaggedFormKernelsOptions form;
  form.fuse = options.fuse;
  // The fewer tiles, the less often weights come from a far cache. Tiles of a
  // GPU are limited by its workgroup memory.
  if (!GPUSpec::isGPU(options.target))
    form.largeTileRows = 96;
  // Threads of a GPU compute elements where they need them.
  form.share = !GPUSpec::isGPU(options.target);
  functions.addPass(ragged::createRaggedFormKernels(form));
  // Loads were repeated per use, constants per tile.
  functions.addPass(createCSEPass());
  functions.addPass(ragged::createRaggedVerifyKernels());
}

/// What the target has. What is wrong with its name is reported where it is
/// used.
static std::vector<std::string> getInstructionSets(StringRef target) {
  llvm::Expected<TargetSpec> spec = TargetSpec::parse(target);
  if (!spec) {
    llvm::consumeError(spec.takeError());
    return {};
  }
  llvm::Expected<std::vector<std::string>> sets = spec->getInstructionSets();
  if (!sets) {
    llvm::consumeError(sets.takeError());
    return {};
  }
  return *sets;
}

/// Width of the target's vector registers.
static int64_t getVectorBits(StringRef target) {
  std::vector<std::string> sets = getInstructionSets(target);
  if (llvm::is_contained(sets, "avx512f"))
    return 512;
  return llvm::is_contained(sets, "avx") ? 256 : 128;
}

//===----------------------------------------------------------------------===//
// kernels -> structure
//===----------------------------------------------------------------------===//

/// Contract of `structure`: no ragged types; kernels are functions on packed
/// rows and tables; `ragged.schedule` says what the runtime does.
void nested::buildToStructure(OpPassManager &pm, const PhaseOptions &options) {
  RaggedKernelsToStructureOptions structure;
  if (!GPUSpec::isGPU(options.target))
    structure.vectorBits = getVectorBits(options.target);
  pm.addPass(createRaggedKernelsToStructure(structure));
  // Tables are read where they are needed: loads of the same place meet here.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  pm.addPass(createRaggedVerifyStructure());
}

//===----------------------------------------------------------------------===//
// structure -> loops
//===----------------------------------------------------------------------===//

/// Whether f32 from and to f16 are instructions: AArch64 has them always.
static bool hasF16Conversions(StringRef target) {
  std::vector<std::string> sets = getInstructionSets(target);
  return llvm::is_contained(sets, "f16c") || llvm::is_contained(sets, "neon");
}

/// The options of the target, for the functions that build the way to a GPU.
static void withGPUOptions(const PhaseOptions &options,
                           llvm::function_ref<void(const GPUOptions &)> build) {
  GPUOptions result;
  StringRef chip = options.target;
  if (chip.consume_front("cuda:"))
    result.chip = chip.str();
  build(result);
}

/// Contract of `loops`: each kernel is a `func.func` with the attribute
/// `ragged.kernel`, arguments (memrefs, scalars, begin, end[, scratch]) and a
/// body in scf, vector, memref, arith and math; no linalg, no tensors, no
/// allocation.
///
/// For a GPU it is a `gpu.func` in `gpu.module @kernels`, see `kernels-to-gpu`.
void nested::buildToLoops(OpPassManager &pm, const PhaseOptions &options) {
  if (GPUSpec::isGPU(options.target))
    return withGPUOptions(
        options, [&](const GPUOptions &gpu) { buildStructureToGPU(pm, gpu); });
  TileOptions tiles;
  tiles.vectorBits = getVectorBits(options.target);
  buildStructureToLoops(pm, tiles);
}

//===----------------------------------------------------------------------===//
// loops -> llvm
//===----------------------------------------------------------------------===//

static void addCleanup(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createLoopInvariantCodeMotionPass());
}

/// Contract of `llvm`: `verify-llvm-phase`. For a GPU: LLVM and NVVM dialects
/// in `gpu.module @kernels`, with a target.
void nested::buildToLLVM(OpPassManager &pm, const PhaseOptions &options) {
  if (GPUSpec::isGPU(options.target))
    return withGPUOptions(
        options, [&](const GPUOptions &gpu) { buildGPUToNVVM(pm, gpu); });
  pm.addPass(createDefineArithmetic());
  // f16 and bf16 arithmetic is computed in f32 on every target; before math is
  // approximated, so that what it leaves is f32 or f64.
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"bf16", "f16"};
  floats.targetTypeStr = "f32";
  pm.addNestedPass<func::FuncOp>(
      arith::createArithEmulateUnsupportedFloats(floats));
  pm.addNestedPass<func::FuncOp>(createApproximateMath());
  // Contractions become fused multiply-adds on rows: the default lowering of
  // convert-vector-to-llvm, dot products, reaches 4 % of that speed.
  pm.addNestedPass<func::FuncOp>(createLowerVectorOps());
  addCleanup(pm);
  // Without full unrolling this leaves allocas inside of loops.
  pm.addPass(createConvertVectorToSCFPass(
      VectorTransferToSCFOptions().enableFullUnroll()));
  pm.addPass(memref::createExpandStridedMetadataPass());
  // Strides come out of the pass before as affine expressions.
  pm.addPass(createLowerAffinePass());
  addCleanup(pm);
  // Calls need the elements of vectors, so before vectors are LLVM's;
  // descriptors need memref types, so before functions are LLVM's.
  pm.addPass(createBindServices());
  pm.addPass(createEmitKernelAbi());
  // While vectors have all their dimensions: one operation for all rows.
  ExpandHalvesOptions halves;
  halves.f16Instructions = hasF16Conversions(options.target);
  pm.addNestedPass<func::FuncOp>(createExpandHalves(halves));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addNestedPass<func::FuncOp>(arith::createArithExpandOpsPass(expand));
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectorToLLVM;
  vectorToLLVM.vectorContractLowering =
      vector::VectorContractLowering::OuterProduct;
  // Else a reduction is a chain of scalar additions. The order is fixed by the
  // type, so results stay the same for every batch.
  vectorToLLVM.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vectorToLLVM));
  pm.addPass(createConvertMathToFuncs());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Not on the module: the schedule must stay as it is.
  OpPassManager &functions = pm.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createCarryBF16());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  pm.addPass(createVerifyLLVMPhase());
}

//===----------------------------------------------------------------------===//
// Phases as a whole
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kPhaseNames[] = {
    "tensor", "generic", "kernels", "structure", "loops", "llvm", "object"};

StringRef nested::stringifyPhase(Phase phase) {
  return kPhaseNames[static_cast<unsigned>(phase)];
}

std::optional<Phase> nested::symbolizePhase(StringRef name) {
  const auto *it = llvm::find(kPhaseNames, name);
  if (it == std::end(kPhaseNames))
    return std::nullopt;
  return static_cast<Phase>(it - std::begin(kPhaseNames));
}

std::string nested::listPhases() {
  return llvm::join(ArrayRef(kPhaseNames), ", ");
}

/// What the operations of a module say about its phase; schedules, which are
/// the same in several phases, say little.
static Phase guessPhase(ModuleOp module) {
  bool schedule = false, kernel = false, function = false;
  bool kernelOp = false, raggedOp = false;
  bool raggedType = false, tensorType = false;
  auto look = [&](Type type) {
    raggedType |= type.getDialect().getNamespace() == "ragged";
    tensorType |= isa<TensorType>(type);
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (name == "ragged.schedule") {
      schedule = true;
      return WalkResult::skip();
    }
    function |= isa<func::FuncOp>(op);
    kernel |= op->hasAttr(kKernelAttr);
    kernelOp |= name == "ragged.kernel";
    raggedOp |= op->getName().getDialectNamespace() == "ragged";
    llvm::for_each(op->getOperandTypes(), look);
    llvm::for_each(op->getResultTypes(), look);
    if (auto signature = dyn_cast<FunctionOpInterface>(op)) {
      llvm::for_each(signature.getArgumentTypes(), look);
      llvm::for_each(signature.getResultTypes(), look);
    }
    return WalkResult::advance();
  });
  if (kernelOp)
    return Phase::Kernels;
  // The generic phase looks like a tensor phase with `ragged.generic`; going
  // through its passes once more changes nothing.
  if (!kernel && !schedule)
    return Phase::Tensor;
  if (raggedOp || raggedType || tensorType)
    return Phase::Structure;
  return function ? Phase::Loops : Phase::LLVM;
}

FailureOr<Phase> nested::getPhase(ModuleOp module) {
  Attribute attr = module->getAttr(kPhaseAttr);
  if (!attr)
    return guessPhase(module);
  auto name = dyn_cast<StringAttr>(attr);
  std::optional<Phase> phase =
      name ? symbolizePhase(name.getValue()) : std::nullopt;
  if (!phase || *phase == Phase::Object)
    return module.emitError("attribute '")
           << kPhaseAttr << "' is " << attr << "; expected one of the phases "
           << listPhases() << " but object";
  return *phase;
}

namespace {
/// Records the phase that a module has reached.
struct SetPhasePass
    : public PassWrapper<SetPhasePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SetPhasePass)
  explicit SetPhasePass(Phase phase) : phase(phase) {}
  StringRef getName() const override { return "SetPhase"; }
  void runOnOperation() override {
    getOperation()->setAttr(
        kPhaseAttr, StringAttr::get(&getContext(), stringifyPhase(phase)));
  }
  Phase phase;
};
} // namespace

using PhaseBuilder = void (*)(OpPassManager &, const PhaseOptions &);
static constexpr PhaseBuilder kBuilders[] = {nullptr,        buildToGeneric,
                                             buildToKernels, buildToStructure,
                                             buildToLoops,   buildToLLVM};

void nested::buildPhases(OpPassManager &pm, Phase from, Phase to,
                         const PhaseOptions &options) {
  for (int i = static_cast<int>(from) + 1; i <= static_cast<int>(to); ++i) {
    kBuilders[i](pm, options);
    pm.addPass(std::make_unique<SetPhasePass>(static_cast<Phase>(i)));
  }
}

namespace {
struct PhasePipelineOptions : public PassPipelineOptions<PhasePipelineOptions> {
  Option<std::string> target{
      *this, "target", llvm::cl::desc("The target, as for nested-compile"),
      llvm::cl::init("cpu")};
  Option<ragged::Fusion> fuse{
      *this, "fuse", llvm::cl::desc("What is put into one kernel"),
      llvm::cl::init(ragged::Fusion::Cost), NESTED_FUSION_VALUES};
  Option<bool> reassociate{
      *this, "reassociate",
      llvm::cl::desc("Rewrite sums where it saves work; last bits change"),
      llvm::cl::init(true)};
  PhaseOptions get() const { return {target, fuse, reassociate}; }
};
} // namespace

void nested::registerPhasePipelines() {
  PassPipelineRegistration<PhasePipelineOptions>(
      "ragged-to-cpu", "From the tensor phase to the LLVM dialect of a CPU",
      [](OpPassManager &pm, const PhasePipelineOptions &options) {
        buildPhases(pm, Phase::Tensor, Phase::LLVM, options.get());
      });
  static constexpr std::pair<StringLiteral, StringLiteral> kNames[] = {
      {"tensor-to-generic", "From the tensor phase to the generic phase"},
      {"generic-to-kernels", "From the generic phase to the kernels phase"},
      {"kernels-to-structure", "From the kernels phase to the structure phase"},
      {"structure-to-loops", "From the structure phase to the loops phase"},
      {"loops-to-llvm", "From the loops phase to the llvm phase"},
  };
  for (auto [i, entry] : llvm::enumerate(kNames)) {
    auto to = static_cast<Phase>(i + 1);
    PassPipelineRegistration<PhasePipelineOptions>(
        entry.first, entry.second,
        [to](OpPassManager &pm, const PhasePipelineOptions &options) {
          buildPhases(pm, static_cast<Phase>(static_cast<int>(to) - 1), to,
                      options.get());
        });
  }
}
