//===- emulator.h - Run the threads of a GPU kernel one by one --*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For kernels whose device IR was made host IR by host_ir.py. It checks what a
// kernel computes, that barriers and shuffles are reached by all threads, and,
// by trying several orders of threads, that results do not depend on the order.
// It does not model the memory system, and says nothing about ptxas or speed.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TEST_EMULATOR_H
#define NESTED_TEST_EMULATOR_H

#include <functional>

struct Launch {
  int blocks = 1, threads = 32;
  /// Orders threads; every seed is another order.
  unsigned seed = 0;
};

/// Runs the kernel call in every thread of every block. Aborts with a message
/// when threads of a block wait for each other in different places.
void run(const Launch &launch, const std::function<void()> &kernel);

#endif // NESTED_TEST_EMULATOR_H
