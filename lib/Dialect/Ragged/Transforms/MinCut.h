//===- MinCut.h - The cheapest cut of a graph --------------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_MINCUT_H
#define NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_MINCUT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace nested::ragged {

/// A graph whose nodes are divided among a source and a sink. An edge that
/// leads from the source's side to the sink's costs its capacity.
class MinCut {
public:
  static constexpr unsigned source = 0, sink = 1;
  /// More than any cut may cost; capacities are at most that.
  static constexpr int64_t unlimited = int64_t(1) << 60;

  MinCut() : edgesOf(2) {}

  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t capacity);
  /// Divides the nodes so that the cut costs least; of such cuts, the one
  /// with the most nodes on the sink's side.
  void run();
  bool isOnSinkSide(unsigned node) const { return level[node] < 0; }

private:
  struct Edge {
    unsigned to;
    /// What can still flow.
    int64_t capacity;
  };

  /// Levels by the distance from the source, through edges with capacity left;
  /// whether the sink is reached.
  bool findLevels();
  /// Pushes flow along the levels to the sink.
  int64_t push(unsigned node, int64_t flow);

  /// Edge 2 i and its reverse 2 i + 1.
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf;
  std::vector<int> level;
  /// Edges of each node that are used up in this round.
  std::vector<unsigned> tried;
};

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_MINCUT_H
