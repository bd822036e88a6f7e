//===- CAPI.cpp - The reference interpreter as a C library ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Reference/CAPI.h"

#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Reference/Reference.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace nested;
using namespace nested::reference;

namespace {
struct StoredResult {
  std::vector<char> data;
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> lengths, pathLengths;
  std::vector<const int64_t *> lengthPointers, pathPointers;
  nested_reference_result info = {};
};
} // namespace

struct nested_reference_run_t {
  std::string diagnostics;
  std::vector<StoredResult> results;
};

/// Copies the fields that the caller's record has.
template <typename T>
static T readRecord(const T *record) {
  T copy = {};
  if (record)
    std::memcpy(&copy, record,
                std::min<size_t>(record->struct_size, sizeof(T)));
  return copy;
}

/// Artifacts take structure, and values that are packed, as ragged arguments
/// (`--ragged-absorb-structure`): as the dense tensors that the program
/// declares. Lengths are the structure of values without columns.
static FailureOr<Argument> convertAbsorbed(func::FuncOp func, unsigned index,
                                           RankedTensorType dense,
                                           const nested_argument &given,
                                           Argument argument) {
  if (given.base || given.strides || given.path_lengths || !given.lengths)
    return func.emitError("argument '")
           << getArgumentName(func, index)
           << "' must be packed and have lengths, to be read as " << dense;
  ArrayRef<int64_t> sizes(given.shape, given.rank);
  if (dense.getRank() == 1 && dense.getElementType().isInteger(64) &&
      sizes.back() == 0) {
    argument.dtype = DType::I64;
    argument.data = given.lengths[0];
    argument.shape = {given.num_samples};
    return argument;
  }
  int64_t rows = 0;
  for (int64_t i = 0; i < given.num_samples; ++i) {
    int64_t own = 1;
    for (int64_t k = 0; k < llvm::count(sizes, -1); ++k)
      own *= given.lengths[k] ? given.lengths[k][i] : 0;
    rows += own;
  }
  argument.shape = {rows};
  llvm::copy_if(sizes, std::back_inserter(*argument.shape),
                [](int64_t size) { return size >= 0; });
  return argument;
}

static FailureOr<Argument> convertArgument(func::FuncOp func, unsigned index,
                                           const nested_argument &given) {
  Type type = func.getArgumentTypes()[index];
  if (auto attr =
          func.getArgAttrOfType<TypeAttr>(index, "ragged.declared_type"))
    type = attr.getValue();
  Argument argument;
  auto dtype = static_cast<DType>(given.dtype);
  bool known = (given.dtype >= NESTED_I1 && given.dtype <= NESTED_U8) ||
               (given.dtype >= NESTED_F16 && given.dtype <= NESTED_F64);
  if (!known)
    return func.emitError("argument '")
           << getArgumentName(func, index)
           << "' has a dtype that the reference interpreter does not support: "
           << given.dtype;
  argument.dtype = dtype;
  argument.data = given.data;
  auto tensor = dyn_cast<ragged::RaggedTensorType>(type);
  auto dense = dyn_cast<RankedTensorType>(type);
  if (dense && !dense.hasStaticShape() && given.shape && given.rank > 0 &&
      llvm::is_contained(ArrayRef(given.shape, given.rank), -1))
    return convertAbsorbed(func, index, dense, given, std::move(argument));
  if (auto partition = dyn_cast<ragged::PartitionType>(type);
      partition && partition.getPath().size() == 1 && given.lengths &&
      given.rank == static_cast<int32_t>(partition.getExtents().size()) + 1) {
    argument.numSamples = given.num_samples;
    for (size_t k = 0; k < partition.getExtents().size(); ++k) {
      auto &lengths = argument.lengths.emplace_back();
      if (const int64_t *own = given.lengths[k])
        lengths.emplace(own, own + given.num_samples);
    }
    return argument;
  }
  int64_t rank = tensor ? tensor.getRank() : dense ? dense.getRank() : 0;
  if (given.rank != rank)
    return func.emitError("argument '")
           << getArgumentName(func, index) << "' has rank " << given.rank
           << ", expected " << type;
  if (given.shape)
    argument.shape.emplace(given.shape, given.shape + rank);
  if (!tensor) {
    if (given.strides)
      argument.strides.assign(given.strides, given.strides + rank);
    return argument;
  }
  argument.numSamples = given.num_samples;
  argument.rowCapacity = given.row_capacity;
  if (given.strides)
    argument.strides.assign(given.strides,
                            given.strides + 1 + tensor.getStaticDims().size());

  // How many instances there are follows from the lengths of the path.
  int64_t instances = given.num_samples;
  size_t levels = tensor.getPath().size() - 1;
  for (size_t level = 0; level < levels; ++level) {
    const int64_t *lengths =
        given.path_lengths ? given.path_lengths[level] : nullptr;
    if (!lengths || instances < 0) {
      instances = -1;
      argument.pathLengths.emplace_back(std::nullopt);
      continue;
    }
    std::vector<int64_t> copy(lengths, lengths + instances);
    instances = 0;
    for (int64_t length : copy)
      instances += std::max<int64_t>(length, 0);
    argument.pathLengths.emplace_back(std::move(copy));
  }
  size_t ragged = tensor.getRaggedDims().size();
  for (size_t k = 0; k < ragged; ++k) {
    const int64_t *lengths = given.lengths ? given.lengths[k] : nullptr;
    if (!lengths) {
      argument.lengths.emplace_back(std::nullopt);
    } else if (instances < 0) {
      return func.emitError("argument '")
             << getArgumentName(func, index)
             << "' has lengths, but not those of its path";
    } else {
      argument.lengths.emplace_back(
          std::vector<int64_t>(lengths, lengths + instances));
    }
  }
  if (given.base) {
    if (instances < 0)
      return func.emitError("argument '")
             << getArgumentName(func, index)
             << "' has first rows, but not the lengths of its path";
    argument.base.emplace(given.base, given.base + instances);
  }
  return argument;
}

static void storeResult(const RaggedValue &value, bool wide,
                        StoredResult &stored) {
  nested_reference_result &info = stored.info;
  Array packed = value.getPacked();
  DType dtype = packed.dtype;
  info.declared_dtype = static_cast<int32_t>(dtype);
  if (wide && isFloat(dtype))
    dtype = DType::F64;
  info.dtype = static_cast<int32_t>(dtype);
  int64_t size = getSize(dtype);
  stored.data.resize(packed.data.size() * size);
  for (auto [i, number] : llvm::enumerate(packed.data))
    writeNumber(dtype, number, stored.data.data() + i * size);
  info.rows = info.num_samples = info.num_instances = 1;
  if (auto tensor = dyn_cast<ragged::RaggedTensorType>(value.type)) {
    info.rows = packed.shape[0];
    info.num_samples = value.numSamples;
    info.num_instances = value.instances.size();
    info.path_rank = tensor.getPath().size();
    for (auto [dim, extent] : llvm::enumerate(tensor.getExtents())) {
      stored.shape.push_back(extent.getConstant().value_or(-1));
      if (!extent.isStatic())
        stored.lengths.push_back(value.getLengths(dim));
    }
    stored.pathLengths = value.pathLengths;
  } else {
    llvm::append_range(stored.shape, packed.shape);
  }
  // An empty vector may have no memory; null would mean that there are none.
  static const int64_t none = 0;
  for (const auto &list : stored.lengths)
    stored.lengthPointers.push_back(list.empty() ? &none : list.data());
  for (const auto &list : stored.pathLengths)
    stored.pathPointers.push_back(list.empty() ? &none : list.data());
  info.rank = stored.shape.size();
  info.shape = stored.shape.data();
  info.data = stored.data.data();
  info.bytes = stored.data.size();
  info.num_ragged = stored.lengths.size();
  info.lengths = stored.lengthPointers.data();
  info.path_lengths = stored.pathPointers.data();
}

static LogicalResult run(MLIRContext &context, llvm::SourceMgr &sources,
                         const char *entryName, const nested_argument *args,
                         int64_t numArgs, const nested_reference_options &given,
                         nested_reference_run_t &into) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  if (failed(expandDerivatives(*module)))
    return failure();
  func::FuncOp entry = findEntry(*module, entryName ? entryName : "");
  if (!entry)
    return failure();
  if (numArgs != entry.getNumArguments())
    return entry.emitError("'")
           << entry.getName() << "' takes " << entry.getNumArguments()
           << " arguments, but was given " << numArgs;
  std::vector<Argument> arguments;
  const auto *bytes = reinterpret_cast<const char *>(args);
  for (int64_t k = 0; k < numArgs; ++k) {
    // Records of another age have another size.
    const auto *record = reinterpret_cast<const nested_argument *>(
        bytes + k * static_cast<int64_t>(args->struct_size));
    FailureOr<Argument> argument =
        convertArgument(entry, k, readRecord(record));
    if (failed(argument))
      return failure();
    arguments.push_back(std::move(*argument));
  }
  Options options;
  options.roundEach = given.flags & NESTED_REFERENCE_ROUND_EACH;
  if (given.num_samples > 0)
    options.numSamples = given.num_samples;
  if (given.max_elements > 0)
    options.maxElements = given.max_elements;
  bool wide = given.flags & NESTED_REFERENCE_WIDE_RESULTS;
  auto results = reference::run(entry, arguments, options, !wide);
  if (failed(results))
    return failure();
  into.results.resize(results->size());
  for (auto [value, stored] : llvm::zip_equal(*results, into.results)) {
    if (isa<ragged::PartitionType>(value.type))
      return entry.emitError("a result is a partition; return its lengths");
    storeResult(value, wide, stored);
  }
  return success();
}

nested_status nested_reference_run(const char *text, size_t length,
                                   const char *entry,
                                   const nested_argument *args, int64_t numArgs,
                                   const nested_reference_options *options,
                                   nested_reference_run_t **out) noexcept {
  auto result = std::make_unique<nested_reference_run_t>();
  nested_reference_options known = readRecord(options);
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text, length),
                                           known.file_name ? known.file_name
                                                           : "<program>"),
      llvm::SMLoc());
  llvm::raw_string_ostream stream(result->diagnostics);
  SourceMgrDiagnosticHandler handler(sources, &context, stream);
  LogicalResult status =
      run(context, sources, entry, args, numArgs, known, *result);
  if (failed(status))
    result->results.clear();
  *out = result.release();
  return succeeded(status) ? NESTED_OK : NESTED_INVALID_ARGUMENT;
}

const char *
nested_reference_diagnostics(const nested_reference_run_t *run) noexcept {
  return run->diagnostics.c_str();
}

int64_t
nested_reference_num_results(const nested_reference_run_t *run) noexcept {
  return run->results.size();
}

nested_status
nested_reference_get_result(const nested_reference_run_t *run, int64_t index,
                            nested_reference_result *result) noexcept {
  if (index < 0 || index >= nested_reference_num_results(run))
    return NESTED_INVALID_ARGUMENT;
  uint32_t size = result->struct_size;
  std::memcpy(result, &run->results[index].info,
              std::min<size_t>(size, sizeof(*result)));
  result->struct_size = size;
  return NESTED_OK;
}

void nested_reference_release(nested_reference_run_t *run) noexcept {
  delete run;
}
