//===- MinCut.cpp - The cheapest cut of a graph ---------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dinic's algorithm. While the sink can be reached through edges with capacity
// left: number the nodes by their distance from the source, and push flow along
// shortest ways until there is none left. What the source then reaches is its
// side of the cut.
//
//===----------------------------------------------------------------------===//

#include "MinCut.h"

#include <algorithm>
#include <deque>

using namespace nested::ragged;

unsigned MinCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, std::min(capacity, unlimited)});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool MinCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[source] = 0;
  std::deque<unsigned> queue = {source};
  while (!queue.empty()) {
    unsigned node = queue.front();
    queue.pop_front();
    for (unsigned index : edgesOf[node]) {
      const Edge &edge = edges[index];
      if (edge.capacity == 0 || level[edge.to] >= 0)
        continue;
      level[edge.to] = level[node] + 1;
      queue.push_back(edge.to);
    }
  }
  return level[sink] >= 0;
}

int64_t MinCut::push(unsigned node, int64_t flow) {
  if (node == sink)
    return flow;
  for (unsigned &i = tried[node]; i < edgesOf[node].size(); ++i) {
    unsigned index = edgesOf[node][i];
    Edge &edge = edges[index];
    if (edge.capacity == 0 || level[edge.to] != level[node] + 1)
      continue;
    int64_t pushed = push(edge.to, std::min(flow, edge.capacity));
    if (pushed == 0)
      continue;
    edge.capacity -= pushed;
    int64_t &back = edges[index ^ 1].capacity;
    back = std::min(back + pushed, unlimited);
    return pushed;
  }
  return 0;
}

void MinCut::run() {
  while (findLevels()) {
    tried.assign(edgesOf.size(), 0);
    while (push(source, unlimited) > 0)
      ;
  }
}
