//===- Scope.cpp - Symbols and instances of a running program -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scope.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace nested;
using namespace nested::reference;

LogicalResult Scope::bindBatch(EmitError emitError, StringAttr name,
                               int64_t samples, StringRef origin,
                               Location location) {
  if (samples < 0)
    return emitError() << origin << " has " << samples << " samples";
  auto [it, inserted] =
      batches.try_emplace(name, Batch{samples, origin.str(), location});
  if (inserted || it->second.samples == samples)
    return success();
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << origin << " has " << samples << " samples, but "
             << it->second.origin << " has " << it->second.samples;
  diagnostic.attachNote(it->second.location)
      << "batch '" << name.getValue() << "' is " << it->second.samples
      << " samples because of " << it->second.origin;
  return diagnostic;
}

LogicalResult Scope::bind(EmitError emitError, StringAttr name,
                          SymbolValue value) {
  FailureOr<const Instances *> instances = getInstances(emitError, value.path);
  if (failed(instances))
    return failure();
  if ((*instances)->count != static_cast<int64_t>(value.lengths.size()))
    return emitError() << value.origin << " gives " << value.lengths.size()
                       << " lengths for '" << name.getValue() << "', but path "
                       << ragged::formatPath(value.path) << " has "
                       << (*instances)->count << " instances";
  for (auto [i, length] : llvm::enumerate(value.lengths))
    if (length < 0)
      return emitError() << value.origin << " gives length " << length
                         << " for '" << name.getValue() << "' in "
                         << describe(value.path, i);
  symbols.try_emplace(name, std::move(value));
  return success();
}

const SymbolValue *Scope::lookup(StringAttr name) const {
  auto it = symbols.find(name);
  return it == symbols.end() ? nullptr : &it->second;
}

std::optional<int64_t> Scope::countInstances(Path path) {
  if (path.empty())
    return 1;
  if (path.size() == 1) {
    auto it = batches.find(path[0]);
    return it == batches.end() ? std::nullopt
                               : std::optional(it->second.samples);
  }
  const Instances *outer = lookupInstances(path.drop_back());
  const SymbolValue *last = lookup(path.back());
  if (!outer || !last || !ragged::isPathPrefix(last->path, path.drop_back()))
    return std::nullopt;
  int64_t count = 0;
  for (int64_t i = 0; i < outer->count; ++i)
    if (llvm::AddOverflow(count,
                          last->lengths[outer->ancestors[last->path.size()][i]],
                          count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

const Instances *Scope::lookupInstances(Path path) {
  std::string key = ragged::formatPath(path);
  if (auto it = known.find(key); it != known.end())
    return &it->second;

  std::optional<int64_t> count = countInstances(path);
  if (!count || *count > maxInstances)
    return nullptr;
  Instances result;
  if (path.empty()) {
    result.count = 1;
    result.ancestors = {{0}};
  } else if (path.size() == 1) {
    result.count = *count;
    result.ancestors = {std::vector<int64_t>(result.count, 0), {}};
    for (int64_t i = 0; i < result.count; ++i)
      result.ancestors[1].push_back(i);
  } else {
    const Instances *outer = lookupInstances(path.drop_back());
    const SymbolValue *last = lookup(path.back());
    result.ancestors.resize(path.size() + 1);
    for (int64_t i = 0; i < outer->count; ++i) {
      int64_t groups = last->lengths[outer->ancestors[last->path.size()][i]];
      for (int64_t group = 0; group < groups; ++group) {
        for (size_t k = 0; k < path.size(); ++k)
          result.ancestors[k].push_back(outer->ancestors[k][i]);
        result.ancestors.back().push_back(result.count++);
      }
    }
  }
  return &known.emplace(key, std::move(result)).first->second;
}

FailureOr<const Instances *> Scope::getInstances(EmitError emitError,
                                                 Path path) {
  // A program without arguments of this batch still has one.
  if (!path.empty() && !isBatchBound(path[0]))
    batches.try_emplace(path[0], Batch{defaultSamples, "the caller",
                                       UnknownLoc::get(path[0].getContext())});
  if (const Instances *instances = lookupInstances(path))
    return instances;
  std::optional<int64_t> count = countInstances(path);
  if (count && *count > maxInstances)
    return emitError() << "path " << ragged::formatPath(path) << " has "
                       << *count
                       << " instances, more than the reference interpreter "
                          "takes ("
                       << maxInstances << ")";
  return emitError() << "the lengths of path " << ragged::formatPath(path)
                     << " are not known here";
}

FailureOr<int64_t> Scope::evaluate(EmitError emitError,
                                   ragged::ExtentAttr extent, Path path,
                                   int64_t instance) {
  if (std::optional<int64_t> constant = extent.getConstant())
    return *constant;
  FailureOr<const Instances *> instances = getInstances(emitError, path);
  if (failed(instances))
    return failure();
  StringAttr unbound, outside;
  std::optional<int64_t> value = ragged::extent::evaluate(
      extent, [&](StringAttr name) -> std::optional<int64_t> {
        const SymbolValue *symbol = lookup(name);
        if (!symbol) {
          unbound = name;
          return std::nullopt;
        }
        if (!ragged::isPathPrefix(symbol->path, path)) {
          outside = name;
          return std::nullopt;
        }
        return symbol
            ->lengths[(*instances)->ancestors[symbol->path.size()][instance]];
      });
  if (unbound)
    return emitError() << "symbol '" << unbound.getValue()
                       << "' is not bound here";
  if (outside)
    return emitError() << "symbol '" << outside.getValue()
                       << "' has one length per instance of "
                       << ragged::formatPath(lookup(outside)->path)
                       << ", but is used over " << ragged::formatPath(path);
  if (value)
    return *value;
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "extent " << extent.str() << " overflows 64 bits in "
             << describe(path, instance);
  attachNotes(diagnostic, extent, path, instance);
  return diagnostic;
}

FailureOr<SmallVector<int64_t, 4>>
Scope::evaluate(EmitError emitError, ArrayRef<ragged::ExtentAttr> extents,
                Path path, int64_t instance) {
  SmallVector<int64_t, 4> shape;
  for (ragged::ExtentAttr extent : extents) {
    FailureOr<int64_t> size = evaluate(emitError, extent, path, instance);
    if (failed(size))
      return failure();
    if (*size < 0) {
      InFlightDiagnostic diagnostic = emitError();
      diagnostic << "extent " << extent.str() << " is " << *size << " in "
                 << describe(path, instance);
      attachNotes(diagnostic, extent, path, instance);
      return diagnostic;
    }
    shape.push_back(*size);
  }
  return shape;
}

std::string Scope::describe(Path path, int64_t instance) {
  if (path.empty())
    return "the call";
  const Instances *instances = lookupInstances(path);
  if (!instances || instance >= instances->count)
    return ("instance " + Twine(instance)).str();
  std::string text =
      ("sample " + Twine(instances->ancestors[1][instance])).str();
  for (size_t k = 2; k <= path.size(); ++k) {
    // The index within the parent: how far the parent's first one is away.
    const Instances *level = lookupInstances(path.take_front(k));
    int64_t self = instances->ancestors[k][instance], first = self;
    while (first > 0 &&
           level->ancestors[k - 1][first - 1] == level->ancestors[k - 1][self])
      --first;
    text += (", index " + Twine(self - first) + " of " + path[k - 1].getValue())
                .str();
  }
  return text;
}

void Scope::attachNotes(InFlightDiagnostic &diagnostic,
                        ArrayRef<ragged::ExtentAttr> extents, Path path,
                        int64_t instance) {
  llvm::SmallSetVector<StringAttr, 4> names;
  for (ragged::ExtentAttr extent : extents)
    extent.getSymbols(names);
  const Instances *instances = lookupInstances(path);
  for (StringAttr name : names) {
    const SymbolValue *symbol = lookup(name);
    if (!symbol || !instances || !ragged::isPathPrefix(symbol->path, path))
      continue;
    int64_t own = instances->ancestors[symbol->path.size()][instance];
    diagnostic.attachNote(symbol->location)
        << "'" << name.getValue() << "' is " << symbol->lengths[own]
        << " there, bound by " << symbol->origin;
  }
}
