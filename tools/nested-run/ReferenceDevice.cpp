//===- ReferenceDevice.cpp - Running a program by interpretation ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceDevice.h"
#include "Failure.h"
#include "Tools.h"

#include "nested/Reference/CAPI.h"

#include <dlfcn.h>

using namespace nested::run;

namespace {
/// The functions of nested/Reference/CAPI.h in a library that is loaded at run
/// time.
struct ReferenceLibrary {
  decltype(&nested_reference_run) run;
  decltype(&nested_reference_diagnostics) diagnostics;
  decltype(&nested_reference_num_results) numResults;
  decltype(&nested_reference_get_result) getResult;
  decltype(&nested_reference_release) release;

  ReferenceLibrary() {
    std::string beside = toolFolder() + "/../lib/libnested_reference.so";
    void *library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      library = dlopen("libnested_reference.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      fail(EnvironmentError, std::string("--device reference needs "
                                         "libnested_reference.so: ") +
                                 dlerror());
    load(library, "nested_reference_run", run);
    load(library, "nested_reference_diagnostics", diagnostics);
    load(library, "nested_reference_num_results", numResults);
    load(library, "nested_reference_get_result", getResult);
    load(library, "nested_reference_release", release);
  }

private:
  template <typename F>
  static void load(void *library, const char *name, F &function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function)
      fail(EnvironmentError,
           std::string("libnested_reference.so has no ") + name);
  }
};

struct Run {
  const ReferenceLibrary &library;
  nested_reference_run_t *handle = nullptr;
  ~Run() { library.release(handle); }
};
} // namespace

/// Bytes in the numbers of the interpreter are the runtime's.
static Result convert(const nested_reference_result &from,
                      const nested_value_info &info) {
  Result result;
  result.name = info.name;
  result.dtype = from.dtype;
  result.ragged = info.kind == NESTED_KIND_RAGGED;
  result.extents.assign(info.extents, info.extents + info.rank);
  auto *bytes = static_cast<const char *>(from.data);
  result.bytes.assign(bytes, bytes + from.bytes);
  result.numInstances = from.num_instances;
  if (result.ragged)
    result.valuesShape.push_back(from.rows);
  for (int k = result.ragged ? info.row_rank : 0; k < info.rank; ++k)
    result.valuesShape.push_back(from.shape[info.order[k]]);
  for (int k = 0; k < from.num_ragged; ++k)
    result.lengths.emplace_back(from.lengths[k],
                                from.lengths[k] + from.num_instances);
  int64_t instances = from.num_samples;
  for (int k = 0; k + 1 < from.path_rank; ++k) {
    const std::vector<int64_t> &lengths = result.pathLengths.emplace_back(
        from.path_lengths[k], from.path_lengths[k] + instances);
    instances = 0;
    for (int64_t n : lengths)
      instances += n;
  }
  return result;
}

std::vector<Result> nested::run::runReference(const std::string &program,
                                              const std::string &fileName,
                                              const nested_entry_t *entry,
                                              const nested_argument *args,
                                              int64_t numArgs) {
  ReferenceLibrary library;
  nested_reference_options options = {};
  options.struct_size = sizeof(options);
  options.file_name = fileName.c_str();
  Run run{library};
  nested_status status =
      library.run(program.data(), program.size(), nested_entry_name(entry),
                  args, numArgs, &options, &run.handle);
  const char *text = run.handle ? library.diagnostics(run.handle) : "";
  if (status != NESTED_OK)
    fail(UserError, std::string("the interpreter failed: ") + text);
  std::vector<Result> results;
  for (int64_t k = 0; k < library.numResults(run.handle); ++k) {
    nested_reference_result from = {};
    from.struct_size = sizeof(from);
    nested_value_info info = NESTED_INIT(nested_value_info);
    check(nested_entry_result(entry, k, &info));
    if (library.getResult(run.handle, k, &from) != NESTED_OK)
      fail(InternalError, "the interpreter lost a result");
    results.push_back(convert(from, info));
  }
  return results;
}
