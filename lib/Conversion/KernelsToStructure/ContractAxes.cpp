//===- ContractAxes.cpp - The loops of a contraction --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractAxes.h"

using namespace mlir;
using namespace nested::ragged;

SmallVector<ExtentAttr>
nested::ragged::getElementStrides(const LogicalType &type) {
  SmallVector<ExtentAttr> strides(type.getRank());
  ExtentAttr stride = extent::constant(type.getContext(), 1);
  for (int64_t dim : llvm::reverse(type.order)) {
    strides[dim] = stride;
    stride = extent::mul(stride, type.extents[dim]);
  }
  return strides;
}

/// Larger is better as the loop of the matrix product: ragged, then long.
static std::pair<bool, int64_t> getSize(const ContractAxis &axis) {
  std::optional<int64_t> size = axis.extent.getConstant();
  return {!size, size.value_or(0)};
}

/// Merges axes of one role that follow each other in storage in every operand.
static void mergeAxes(SmallVector<ContractAxis> &axes) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < axes.size() && !changed; ++i)
      for (size_t j = 0; j < axes.size() && !changed; ++j) {
        ContractAxis &outer = axes[i], &inner = axes[j];
        if (i == j || outer.role != inner.role)
          continue;
        bool follows = true;
        for (unsigned k = 0; k < 3; ++k)
          follows &=
              outer.strides[k] == extent::mul(inner.strides[k], inner.extent);
        if (!follows)
          continue;
        inner.extent = extent::mul(outer.extent, inner.extent);
        axes.erase(axes.begin() + i);
        changed = true;
      }
  }
}

ContractAxes::ContractAxes(ContractKernelOp op) {
  MLIRContext *context = op.getContext();
  ExtentAttr zero = extent::constant(context, 0);
  values[0] = op.getLhs();
  values[1] = op.getRhs();
  values[2] = op.getResult();
  SmallVector<ExtentAttr> dims = op.getDims();
  SmallVector<ContractAxis> axes;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    bool lhs = op.getMap(0).isFunctionOfDim(dim);
    bool rhs = op.getMap(1).isFunctionOfDim(dim);
    ContractAxis::Role role = op.isReduction(dim) ? ContractAxis::Depth
                              : lhs && rhs        ? ContractAxis::Batch
                              : lhs               ? ContractAxis::Rows
                                                  : ContractAxis::Columns;
    axes.push_back({role, dims[dim], {zero, zero, zero}});
  }
  for (unsigned i = 0; i < 3; ++i) {
    LogicalType type = LogicalType::of(values[i]);
    SmallVector<ExtentAttr> strides = getElementStrides(type);
    SmallVector<ExtentAttr> offsets;
    if (i < 2)
      offsets = op.getInputOffsets(i);
    starts[i] = zero;
    for (auto [dim, expr] : llvm::enumerate(op.getMap(i).getResults())) {
      ExtentAttr offset = offsets.empty() ? zero : offsets[dim];
      if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
        offset = extent::add(offset, constant.getValue());
      } else {
        ExtentAttr &stride =
            axes[cast<AffineDimExpr>(expr).getPosition()].strides[i];
        stride = extent::add(stride, strides[dim]);
      }
      starts[i] = extent::add(starts[i], extent::mul(offset, strides[dim]));
    }
  }

  if (op.getBatchReduced()) {
    // Rows of the batch, as lhs stores them.
    LogicalType type = LogicalType::of(values[0]);
    SmallVector<ContractAxis> rest;
    llvm::SmallDenseSet<unsigned> seen;
    for (int64_t logical : type.order) {
      auto dim = dyn_cast<AffineDimExpr>(op.getMap(0).getResult(logical));
      if (!dim || !seen.insert(dim.getPosition()).second)
        continue;
      const ContractAxis &axis = axes[dim.getPosition()];
      if (axis.extent.isStatic())
        continue;
      space.push_back(axis.extent);
      for (unsigned i = 0; i < 2; ++i)
        spaceStrides[i].push_back(axis.strides[i]);
    }
    llvm::copy_if(axes, std::back_inserter(rest), [](const ContractAxis &axis) {
      return axis.extent.isStatic();
    });
    axes = rest;
  }
  mergeAxes(axes);

  // Columns are what the result stores as neighbours.
  auto isNeighbour = [&](const ContractAxis &axis) {
    return axis.strides[2].getConstant() == 1;
  };
  auto swaps = llvm::find_if(axes, [&](const ContractAxis &axis) {
    return axis.role == ContractAxis::Rows && isNeighbour(axis);
  });
  if (swaps != axes.end()) {
    std::swap(values[0], values[1]);
    std::swap(starts[0], starts[1]);
    std::swap(spaceStrides[0], spaceStrides[1]);
    for (ContractAxis &axis : axes) {
      std::swap(axis.strides[0], axis.strides[1]);
      if (axis.role == ContractAxis::Rows)
        axis.role = ContractAxis::Columns;
      else if (axis.role == ContractAxis::Columns)
        axis.role = ContractAxis::Rows;
    }
  }

  ExtentAttr one = extent::constant(context, 1);
  rows = columns = depth = {ContractAxis::Depth, one, {zero, zero, zero}};
  auto take = [&](ContractAxis::Role role, auto better) {
    ContractAxis *best = nullptr;
    for (ContractAxis &axis : axes)
      if (axis.role == role && (!best || better(axis, *best)))
        best = &axis;
    ContractAxis taken{role, one, {zero, zero, zero}};
    if (!best)
      return taken;
    taken = *best;
    axes.erase(best);
    return taken;
  };
  auto larger = [](const ContractAxis &a, const ContractAxis &b) {
    return getSize(a) > getSize(b);
  };
  lanes = {ContractAxis::Batch, ExtentAttr(), {zero, zero, zero}};
  for (ContractAxis &axis : axes)
    if (axis.role == ContractAxis::Batch && axis.extent.isStatic() &&
        llvm::all_of(axis.strides, [](ExtentAttr stride) {
          return stride.getConstant() == 1;
        })) {
      lanes = axis;
      axes.erase(&axis);
      break;
    }
  rows = take(ContractAxis::Rows, larger);
  columns = take(ContractAxis::Columns,
                 [&](const ContractAxis &a, const ContractAxis &b) {
                   if (isNeighbour(a) != isNeighbour(b))
                     return isNeighbour(a);
                   return getSize(a) > getSize(b);
                 });
  if (!op.getBatchReduced())
    depth = take(ContractAxis::Depth, larger);
  for (ContractAxis &axis : axes)
    (axis.role == ContractAxis::Depth ? innerDepth : outer).push_back(axis);
}

int64_t ContractAxes::getRowElements(unsigned i) const {
  int64_t elements = 1;
  for (int64_t size : LogicalType::of(values[i]).getRowShape())
    elements *= size;
  return elements;
}

bool ContractAxes::isPackedAlongSpace(unsigned i,
                                      ArrayRef<StringAttr> path) const {
  LogicalType type = LogicalType::of(values[i]);
  if (ArrayRef<StringAttr>(type.path) != path ||
      type.getRaggedExtents() != space || !starts[i].isStatic())
    return false;
  // The packed order of the space is that of the operand.
  ExtentAttr stride = extent::constant(type.getContext(), getRowElements(i));
  for (size_t dim = space.size(); dim-- > 0;) {
    if (spaceStrides[i][dim] != stride)
      return false;
    stride = extent::mul(stride, space[dim]);
  }
  return true;
}
