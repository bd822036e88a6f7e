//===- write_artifact.cpp - The artifact of c_example.c ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TestArtifact.h"

#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::ofstream file(argv[1], std::ios::binary);
  file << nested::test::makeArtifact(nested::test::pairBlock);
  return file.good() ? 0 : 1;
}
