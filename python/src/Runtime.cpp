//===- Runtime.cpp - The runtime's C API in Python ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Module nested._runtime: open artifacts, plan and run calls. Arrays are used
// in place. The interpreter lock is released while files are read, plans made
// and programs run. Knows nothing of the compiler.
//
//===----------------------------------------------------------------------===//

#include "nested/runtime.h"
#include "Boundary.h"

#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Lengths =
    nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

/// A failed call of the runtime, on its way to a Python exception.
struct StatusError : std::runtime_error {
  StatusError(nested_status status, const std::string &message)
      : std::runtime_error(message), status(status) {}
  nested_status status;
};

void check(nested_status status) {
  if (status == NESTED_OK)
    return;
  std::string message = nested_last_error();
  throw StatusError(status,
                    message.empty() ? nested_status_name(status) : message);
}

const char *exceptionName(nested_status status) {
  switch (status) {
  case NESTED_INVALID_ARGUMENT:
    return "ArgumentError";
  case NESTED_INVALID_ARTIFACT:
  case NESTED_UNSUPPORTED:
    return "ArtifactError";
  case NESTED_OUT_OF_MEMORY:
    return "OutOfMemoryError";
  case NESTED_DATA_ERROR:
    return "DataError";
  default:
    return "NestedError";
  }
}

void translate(const std::exception_ptr &pointer, void *) {
  try {
    std::rethrow_exception(pointer);
  } catch (const StatusError &error) {
    if (error.status == NESTED_IO_ERROR) {
      PyErr_SetString(PyExc_OSError, error.what());
      return;
    }
    nb::object type = nb::module_::import_("nested._errors")
                          .attr(exceptionName(error.status));
    PyErr_SetString(type.ptr(), error.what());
  }
}

/// One argument of a call: the arrays, kept alive, and the record that points
/// into them.
class Argument {
public:
  Argument(std::optional<Input> data, int dtype, std::vector<int64_t> shape,
           int64_t numSamples, std::vector<Lengths> lengths,
           std::optional<Lengths> base, int64_t capacity, int donatedTo,
           bool prepared)
      : data(std::move(data)), lengths(std::move(lengths)),
        base(std::move(base)), shape(std::move(shape)),
        record(NESTED_INIT(nested_argument)) {
    for (const Lengths &array : this->lengths) {
      if (static_cast<int64_t>(array.shape(0)) < numSamples)
        throw nb::value_error("fewer lengths than samples");
      lengthPointers.push_back(array.data());
    }
    if (this->base && static_cast<int64_t>(this->base->shape(0)) < numSamples)
      throw nb::value_error("fewer starts than samples");
    record.dtype = dtype;
    record.rank = static_cast<int32_t>(this->shape.size());
    record.shape = this->shape.data();
    record.num_samples = numSamples;
    record.lengths = lengthPointers.empty() ? nullptr : lengthPointers.data();
    record.base = this->base ? this->base->data() : nullptr;
    record.row_capacity = capacity;
    record.flags = donatedTo < 0 ? NESTED_READ : NESTED_DONATED;
    record.donated_to = std::max(donatedTo, 0);
    if (prepared) { // `data` is a block, the same of several arguments.
      record.flags |= NESTED_PREPARED;
      record.data =
          this->data ? const_cast<void *>(this->data->data()) : nullptr;
    } else if (this->data) {
      // The runtime writes through this pointer only where flags allow it.
      record.data = const_cast<void *>(this->data->data());
      bool contiguous = true;
      int64_t expected = 1;
      for (size_t i = this->data->ndim(); i-- > 0;) {
        contiguous &=
            this->data->stride(i) == expected || this->data->shape(i) == 1;
        expected *= static_cast<int64_t>(this->data->shape(i));
      }
      for (size_t i = 0; i < this->data->ndim(); ++i)
        strides.push_back(this->data->stride(i));
      record.strides =
          contiguous || this->data->size() == 0 ? nullptr : strides.data();
    }
  }
  Argument(const Argument &) = delete;
  Argument &operator=(const Argument &) = delete;

  const nested_argument &get() const { return record; }

private:
  std::optional<Input> data;
  std::vector<Lengths> lengths;
  std::optional<Lengths> base;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<const int64_t *> lengthPointers;
  nested_argument record;
};

using Arguments = std::vector<std::shared_ptr<Argument>>;

std::vector<nested_argument> records(const Arguments &arguments) {
  std::vector<nested_argument> result;
  for (const auto &argument : arguments)
    result.push_back(argument->get());
  return result;
}

nested_result resultFor(const Output &output) {
  nested_result result = NESTED_INIT(nested_result);
  result.data = output.data();
  result.row_capacity =
      output.ndim() ? static_cast<int64_t>(output.shape(0)) : 1;
  return result;
}

/// A NumPy array that owns a copy of `count` numbers.
nb::object copied(const int64_t *numbers, int64_t count) {
  auto *memory = new int64_t[static_cast<size_t>(count) + 1];
  std::copy(numbers, numbers + count, memory);
  nb::capsule owner(
      memory, [](void *p) noexcept { delete[] static_cast<int64_t *>(p); });
  size_t shape[1] = {static_cast<size_t>(count)};
  return nb::cast(
      nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(memory, 1, shape, owner));
}

class Plan {
public:
  explicit Plan(nested_plan_t *handle) : handle(handle, nested_plan_release) {}

  nb::dict info() const {
    nested_plan_info info = NESTED_INIT(nested_plan_info);
    check(nested_plan_get_info(handle.get(), &info));
    nb::dict result;
    result["exact"] = info.exact != 0;
    result["threads"] = info.threads;
    result["peak_bytes"] = info.peak_bytes;
    result["result_bytes"] = info.result_bytes;
    result["workspace_bytes"] = info.workspace_bytes;
    result["temp_bytes"] = info.temp_bytes;
    result["scratch_bytes"] = info.scratch_bytes;
    result["staging_bytes"] = info.staging_bytes;
    result["table_bytes"] = info.table_bytes;
    result["prepared_bytes"] = info.prepared_bytes;
    result["flops"] = info.flops;
    result["bytes_moved"] = info.bytes_moved;
    return result;
  }

  /// (exact, rows, samples, lengths) of each result.
  nb::list results(const std::vector<int> &raggedDims) const {
    nb::list list;
    for (size_t i = 0; i < raggedDims.size(); ++i) {
      nested_result_info info = NESTED_INIT(nested_result_info);
      check(
          nested_plan_get_result(handle.get(), static_cast<int64_t>(i), &info));
      nb::list lengths;
      for (int k = 0; k < raggedDims[i]; ++k)
        lengths.append(copied(info.lengths[k], info.num_instances));
      list.append(nb::make_tuple(info.exact != 0, info.rows, info.num_instances,
                                 lengths));
    }
    return list;
  }

  nb::list steps() const {
    nested_plan_info info = NESTED_INIT(nested_plan_info);
    check(nested_plan_get_info(handle.get(), &info));
    nb::list list;
    for (int64_t i = 0; i < info.num_steps; ++i) {
      nested_step_info step = NESTED_INIT(nested_step_info);
      check(nested_plan_get_step(handle.get(), i, &step));
      nb::dict entry;
      entry["op"] = step.op;
      entry["kernel"] = step.kernel;
      entry["rows"] = step.rows;
      entry["units"] = step.units;
      entry["grains"] = step.grains;
      entry["flops"] = step.flops;
      entry["bytes"] = step.bytes;
      list.append(entry);
    }
    return list;
  }

  /// Runs into the arrays `outputs`. Gives (rows, samples, lengths) of each
  /// result.
  nb::list run(const Arguments &arguments, const std::vector<Output> &outputs,
               const std::vector<int> &raggedDims,
               const std::vector<int64_t> &instances) const {
    std::vector<nested_argument> args = records(arguments);
    std::vector<nested_result> results(outputs.size(),
                                       NESTED_INIT(nested_result));
    std::vector<std::vector<std::vector<int64_t>>> lengths(outputs.size());
    std::vector<std::vector<int64_t *>> pointers(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      results[i] = resultFor(outputs[i]);
      lengths[i].resize(static_cast<size_t>(raggedDims[i]));
      for (auto &column : lengths[i]) {
        column.resize(static_cast<size_t>(instances[i]) + 1);
        pointers[i].push_back(column.data());
      }
      results[i].lengths = pointers[i].empty() ? nullptr : pointers[i].data();
    }
    {
      nb::gil_scoped_release release;
      check(nested_run(handle.get(), args.data(),
                       static_cast<int64_t>(args.size()), results.data(),
                       static_cast<int64_t>(results.size()), nullptr));
    }
    nb::list list;
    for (size_t i = 0; i < outputs.size(); ++i) {
      nb::list columns;
      for (auto &column : lengths[i])
        columns.append(copied(column.data(), results[i].num_instances));
      list.append(
          nb::make_tuple(results[i].rows, results[i].num_instances, columns));
    }
    return list;
  }

private:
  friend class Repeat;
  std::shared_ptr<nested_plan_t> handle;
};

/// A planned call that later ones repeat with other memory.
class Repeat {
public:
  /// `numbers`: the arguments whose memory changes.
  Repeat(const Plan &plan, Arguments arguments, std::vector<size_t> numbers)
      : plan(plan.handle), arguments(std::move(arguments)),
        numbers(std::move(numbers)) {
    for (size_t number : this->numbers)
      if (number >= this->arguments.size())
        throw nb::value_error("no argument of this number");
  }

  /// `data`: contiguous arrays of the same shapes and dtypes as before. Results
  /// have the sizes that the plan says exactly.
  void run(const std::vector<Input> &data,
           const std::vector<Output> &outputs) const {
    if (data.size() != numbers.size())
      throw nb::value_error("another number of arrays than of arguments");
    std::vector<nested_argument> args = records(arguments);
    for (size_t k = 0; k < data.size(); ++k)
      args[numbers[k]].data = const_cast<void *>(data[k].data());
    std::vector<nested_result> results;
    for (const Output &output : outputs)
      results.push_back(resultFor(output));
    nb::gil_scoped_release release;
    check(nested_run(plan.get(), args.data(), static_cast<int64_t>(args.size()),
                     results.data(), static_cast<int64_t>(results.size()),
                     nullptr));
  }

private:
  std::shared_ptr<nested_plan_t> plan;
  Arguments arguments;
  std::vector<size_t> numbers;
};

using Table =
    nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// What both directions of padding are given, checked against the memory that
/// is there.
struct Padded {
  int64_t samples;
  int32_t ragged;
  std::vector<int64_t> sizes;

  Padded(const Table &lengths, std::vector<int64_t> sizes, int64_t rowBytes,
         size_t paddedBytes, size_t packedBytes)
      : samples(static_cast<int64_t>(lengths.shape(0))),
        ragged(static_cast<int32_t>(lengths.shape(1))),
        sizes(std::move(sizes)) {
    if (this->sizes.size() != lengths.shape(1))
      throw nb::value_error("as many sizes as lengths of a sample expected");
    auto padded = static_cast<__int128>(samples) * rowBytes;
    for (int64_t size : this->sizes)
      padded *= size; // Of arrays that exist: far from overflow.
    __int128 rows = 0;
    for (int64_t i = 0; i < samples; ++i) {
      __int128 count = 1;
      for (int64_t k = 0; k < ragged; ++k)
        count *= lengths.data()[i * ragged + k];
      rows += count;
    }
    if (padded != static_cast<__int128>(paddedBytes) ||
        rows * rowBytes != static_cast<__int128>(packedBytes))
      throw nb::value_error("arrays of other sizes than lengths say");
  }
};

void pad(const Output &padded, const Input &packed, const Table &lengths,
         std::vector<int64_t> sizes, int64_t rowBytes,
         const std::optional<nb::bytes> &fillRow) {
  Padded what(lengths, std::move(sizes), rowBytes, padded.nbytes(),
              packed.nbytes());
  if (fillRow && fillRow->size() != static_cast<size_t>(rowBytes))
    throw nb::value_error("a row to fill with is as long as other rows");
  const char *fill = fillRow ? fillRow->c_str() : nullptr;
  nb::gil_scoped_release release;
  check(nested_pad(padded.data(), packed.data(), what.samples, what.ragged,
                   lengths.data(), what.sizes.data(), rowBytes, fill));
}

void unpad(const Output &packed, const Input &padded, const Table &lengths,
           std::vector<int64_t> sizes, int64_t rowBytes) {
  Padded what(lengths, std::move(sizes), rowBytes, padded.nbytes(),
              packed.nbytes());
  nb::gil_scoped_release release;
  check(nested_unpad(packed.data(), padded.data(), what.samples, what.ragged,
                     lengths.data(), what.sizes.data(), rowBytes));
}

using ArtifactHandle = std::shared_ptr<nested_artifact_t>;

class Entry {
public:
  Entry(ArtifactHandle artifact, const nested_entry_t *entry)
      : artifact(std::move(artifact)), entry(entry) {}

  std::string name() const { return nested_entry_name(entry); }

  int64_t preparedBytes() const { return nested_entry_prepared_bytes(entry); }

  /// Numbers of the arguments that can be prepared.
  std::vector<int64_t> preparedArgs() const {
    std::vector<int64_t> numbers;
    for (int64_t i = 0, n = nested_entry_num_args(entry); i < n; ++i) {
      nested_value_info info = NESTED_INIT(nested_value_info);
      check(nested_entry_arg(entry, i, &info));
      if (info.flags & NESTED_VALUE_PREPARED)
        numbers.push_back(i);
    }
    return numbers;
  }

  void prepare(const Arguments &arguments, const Output &block) const {
    std::vector<nested_argument> args = records(arguments);
    auto bytes = static_cast<int64_t>(block.nbytes());
    nb::gil_scoped_release release;
    check(nested_prepare(entry, args.data(), static_cast<int64_t>(args.size()),
                         nullptr, block.data(), bytes));
  }

  Plan plan(const Arguments &arguments, int64_t maxBytes) const {
    std::vector<nested_argument> args = records(arguments);
    nested_options options = NESTED_INIT(nested_options);
    options.max_bytes = maxBytes;
    nested_plan_t *plan = nullptr;
    nb::gil_scoped_release release;
    check(nested_plan(entry, args.data(), static_cast<int64_t>(args.size()),
                      &options, &plan));
    return Plan(plan);
  }

private:
  ArtifactHandle artifact; // keeps the entry alive
  const nested_entry_t *entry;
};

class Artifact {
public:
  explicit Artifact(nested_artifact_t *handle) : handle(handle, nested_close) {}

  static Artifact openFile(const std::string &path, bool inspect) {
    nested_artifact_t *artifact = nullptr;
    nb::gil_scoped_release release;
    check(nested_open_file(path.c_str(), inspect ? NESTED_OPEN_INSPECT : 0,
                           &artifact));
    return Artifact(artifact);
  }

  static Artifact openMemory(const nb::bytes &bytes, const std::string &name,
                             bool inspect) {
    nested_artifact_t *artifact = nullptr;
    const char *data = bytes.c_str();
    size_t size = bytes.size();
    nb::gil_scoped_release release;
    check(nested_open_memory(data, size, name.c_str(),
                             inspect ? NESTED_OPEN_INSPECT : 0, &artifact));
    return Artifact(artifact);
  }

  nb::str manifest() const {
    size_t size = 0;
    const char *text = nested_artifact_manifest(handle.get(), &size);
    return nb::str(text, size);
  }

  nb::str program() const {
    size_t size = 0;
    const char *text = nested_artifact_program(handle.get(), &size);
    return nb::str(text, size);
  }

  std::vector<Entry> entries() const {
    std::vector<Entry> result;
    for (int64_t i = 0, n = nested_num_entries(handle.get()); i < n; ++i)
      result.emplace_back(handle, nested_get_entry(handle.get(), i));
    return result;
  }

  Entry find(const std::string &name) const {
    const nested_entry_t *entry = nullptr;
    check(nested_find_entry(handle.get(), name.c_str(), &entry));
    return Entry(handle, entry);
  }

private:
  ArtifactHandle handle;
};

} // namespace

NB_MODULE(_runtime, m) {
  m.doc() = "Running compiled ragged programs: the C API of runtime.h.";
  nb::register_exception_translator(translate);
  bindBoundary(m);

  nb::class_<Argument>(m, "Argument")
      .def(nb::init<std::optional<Input>, int, std::vector<int64_t>, int64_t,
                    std::vector<Lengths>, std::optional<Lengths>, int64_t, int,
                    bool>(),
           "data"_a.none(), "dtype"_a, "shape"_a, "num_samples"_a, "lengths"_a,
           "base"_a.none(), "capacity"_a, "donated_to"_a = -1,
           "prepared"_a = false);
  nb::class_<Plan>(m, "Plan")
      .def("info", &Plan::info)
      .def("results", &Plan::results, "ragged_dims"_a)
      .def("steps", &Plan::steps)
      .def("run", &Plan::run, "args"_a, "outputs"_a, "ragged_dims"_a,
           "instances"_a);
  nb::class_<Repeat>(m, "Repeat")
      .def(nb::init<const Plan &, Arguments, std::vector<size_t>>(), "plan"_a,
           "args"_a, "numbers"_a)
      .def("run", &Repeat::run, "data"_a, "outputs"_a);
  nb::class_<Entry>(m, "Entry")
      .def_prop_ro("name", &Entry::name)
      .def_prop_ro("prepared_bytes", &Entry::preparedBytes)
      .def_prop_ro("prepared_args", &Entry::preparedArgs)
      .def("prepare", &Entry::prepare, "args"_a, "block"_a)
      .def("plan", &Entry::plan, "args"_a, "max_bytes"_a = 0);
  nb::class_<Artifact>(m, "Artifact")
      .def_static("open_file", &Artifact::openFile, "path"_a,
                  "inspect"_a = false)
      .def_static("open_memory", &Artifact::openMemory, "data"_a, "name"_a,
                  "inspect"_a = false)
      .def_prop_ro("manifest", &Artifact::manifest)
      .def_prop_ro("program", &Artifact::program)
      .def("entries", &Artifact::entries)
      .def("find", &Artifact::find, "name"_a);
  m.def("pad", &pad, "padded"_a, "packed"_a, "lengths"_a, "sizes"_a,
        "row_bytes"_a, "fill_row"_a.none());
  m.def("unpad", &unpad, "packed"_a, "padded"_a, "lengths"_a, "sizes"_a,
        "row_bytes"_a);
  m.def(
      "set_default_threads",
      [](int64_t threads) { check(nested_set_default_threads(threads)); },
      "threads"_a);
  m.def("default_threads", [] { return nested_default_threads(); });
  m.def("version", [] { return nested_runtime_version(); });
}
