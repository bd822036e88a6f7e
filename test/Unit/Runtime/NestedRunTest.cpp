//===- NestedRunTest.cpp - The tool and its files ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../tools/nested-run/Failure.h"
#include "../../../tools/nested-run/Npz.h"
#include "../../../tools/nested-run/Options.h"
#include "Programs.h"
#include "TestArtifact.h"

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace nested::test;
using nested::run::NpyArray;
using nested::run::NpzFile;

namespace {

NpyArray floats(std::vector<int64_t> shape, const std::vector<float> &values) {
  NpyArray array;
  array.shape = std::move(shape);
  array.bytes.resize(values.size() * 4);
  if (!values.empty())
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

NpyArray longs(const std::vector<int64_t> &values) {
  NpyArray array;
  array.kind = 'i';
  array.itemBytes = 8;
  array.shape = {static_cast<int64_t>(values.size())};
  array.bytes.resize(values.size() * 8);
  if (!values.empty())
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

class Tool : public ::testing::Test {
protected:
  Tool() {
    char name[] = "/tmp/nested-run-test-XXXXXX";
    EXPECT_NE(nullptr, mkdtemp(name));
    folder = name;
    write("block.so", makeArtifact(pairBlock));
  }
  ~Tool() override {
    for (const std::string &file : files())
      std::remove((folder + "/" + file).c_str());
    rmdir(folder.c_str());
  }

  std::vector<std::string> files() {
    std::vector<std::string> names;
    DIR *list = opendir(folder.c_str());
    while (dirent *each = readdir(list))
      if (each->d_name[0] != '.')
        names.push_back(each->d_name);
    closedir(list);
    return names;
  }

  void write(const std::string &file, const std::string &bytes) {
    std::ofstream(folder + "/" + file, std::ios::binary) << bytes;
  }
  std::string read(const std::string &file) {
    std::stringstream text;
    text << std::ifstream(folder + "/" + file, std::ios::binary).rdbuf();
    return text.str();
  }

  /// Exit code; standard output and error in `output`.
  int run(const std::string &arguments) {
    std::string command =
        "cd " + folder + " && " + NESTED_RUN_TOOL + " " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    output.clear();
    char text[4096];
    while (size_t got = fread(text, 1, sizeof(text), pipe))
      output.append(text, got);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void expect(int code, const std::string &arguments, const char *message) {
    EXPECT_EQ(code, run(arguments)) << arguments << "\n" << output;
    EXPECT_NE(output.find(message), std::string::npos)
        << "no '" << message << "' in: " << output;
  }

  std::string folder, output;
};

TEST_F(Tool, Describes) {
  expect(0, "block.so", "argument x: [N, 4] f32, for each of [B]");
  expect(0, "--help", "EXIT CODES");
  expect(0, "--version", "nested-run 0.");
}

TEST_F(Tool, Profiles) {
  expect(0, "block.so --lengths N=50,0,7 --profile --repeat 3",
         "GFLOP/s of f32 multiply-adds");
  EXPECT_NE(output.find("the fastest of 3 runs"), std::string::npos) << output;
  EXPECT_NE(output.find("threads ms"), std::string::npos) << output;
  expect(2, "block.so --lengths N=5 --profile --device reference",
         "the interpreter");
}

TEST_F(Tool, Traces) {
  expect(0, "block.so --lengths N=50,0,7 --trace t.json --threads 2", "time:");
  std::string trace = read("t.json");
  EXPECT_EQ(trace.find("{\"displayTimeUnit\""), 0u) << trace;
  EXPECT_NE(trace.find("\"ph\": \"X\""), std::string::npos) << trace;
  EXPECT_NE(trace.find("\"pid\": 1"), std::string::npos) << trace;
  EXPECT_EQ(trace.substr(trace.size() - 4), "\n]}\n");
  expect(3, "block.so --lengths N=5 --trace no/t.json", "cannot open");
}

TEST_F(Tool, Prepares) {
  write("scale.so", makeArtifact(scaleShared));
  expect(0, "scale.so --lengths N=3,0,2 --plan", "can prepare 192 bytes");
  expect(0, "scale.so --lengths N=3,0,2 --plan --prepare", "temps   0 bytes");
  expect(0, "scale.so --lengths N=3,0,2 --output a.npz", "time:");
  expect(0, "scale.so --lengths N=3,0,2 --output b.npz --prepare --profile",
         "prepare: 192 bytes");
  EXPECT_EQ(nested::run::readNpz(folder + "/a.npz")["0"].bytes,
            nested::run::readNpz(folder + "/b.npz")["0"].bytes);
  expect(0, "block.so --lengths N=3 --prepare", "prepare: 0 bytes");
  expect(2, "scale.so --lengths N=3 --prepare --device reference",
         "the interpreter");
}

TEST_F(Tool, RunsOnArrays) {
  NpzFile arrays;
  arrays["x"] = floats({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  arrays["w"] = floats({4}, {1, 1, 1, 1});
  arrays["x.lengths"] = longs({2, 0, 1});
  nested::run::writeNpz(folder + "/in.npz", arrays);
  expect(0, "block.so --input in.npz --output out.npz --threads 2",
         "result 0: [N, N, 4] f32, 3 instances, 5 rows");
  NpzFile results = nested::run::readNpz(folder + "/out.npz");
  ASSERT_EQ(5u, results.size());
  EXPECT_EQ((std::vector<int64_t>{5, 4}), results["0"].shape);
  float first[8];
  std::memcpy(first, results["0"].bytes.data(), sizeof(first));
  EXPECT_EQ(2, first[0]);
  EXPECT_EQ(6, first[4]);
  EXPECT_EQ(longs({2, 0, 1}).bytes, results["0.lengths.1"].bytes);
}

TEST_F(Tool, RandomRunsRepeat) {
  expect(0, "block.so --lengths N=5,0,7 --output a.npz --threads 1", "time:");
  expect(0, "block.so --lengths N=5,0,7 --output b.npz --threads 3 --repeat=3",
         "of 3 runs");
  EXPECT_EQ(read("a.npz"), read("b.npz"));
  expect(0, "block.so --lengths N=5,0,7 --output c.npz --seed 1", "time:");
  EXPECT_NE(read("a.npz"), read("c.npz"));
  expect(0, "block.so --lengths N= ", "0 instances, 0 rows");
}

TEST_F(Tool, Plans) {
  expect(0, "block.so --lengths N=100 --plan", "10000 rows, 160000 bytes");
  expect(3, "block.so --lengths N=4000000 --plan", "Nothing was allocated");
  expect(3, "block.so --lengths N=100 --max-bytes 1000", "the limit is 1000");
}

TEST_F(Tool, WrongCommandLines) {
  for (const char *arguments :
       {"", "block.so --nothing", "block.so --lengths N", "block.so --lengths",
        "block.so --lengths N=1,,2", "block.so --lengths N=1,",
        "block.so --lengths N=a", "block.so --threads 0", "block.so --repeat x",
        "block.so --device gpu", "block.so --plan=1", "block.so other.so",
        "block.so --lengths N=1 --lengths N=2"})
    expect(2, arguments, "nested-run: error: ");
}

TEST_F(Tool, WrongInputs) {
  expect(1, "block.so --plan", "has no lengths: give --lengths N=");
  expect(1, "block.so --lengths Q=1 --lengths N=1", "no such symbol");
  expect(1, "block.so --lengths N=1 --entry foo", "no entry 'foo'");
  expect(1, "block.so --lengths N=-1", "negative length -1");
  expect(3, "none.so", "none.so: cannot open");
  write("junk.so", "junk");
  expect(1, "junk.so", "not an artifact");
  expect(3, "block.so --input none.npz", "none.npz: cannot open");
  write("junk.npz", "junk");
  expect(1, "block.so --input junk.npz", "not an .npz file");
  NpzFile arrays;
  arrays["x"] = floats({3, 4}, std::vector<float>(12));
  arrays["x.lengths"] = longs({2, 2});
  nested::run::writeNpz(folder + "/in.npz", arrays);
  expect(1, "block.so --input in.npz", "need 4 rows, but row_capacity is 3");
  arrays["x.lengths"] = longs({2, 1});
  arrays["x.base"] = longs({0});
  nested::run::writeNpz(folder + "/in.npz", arrays);
  expect(1, "block.so --input in.npz", "'x.base' has 1 numbers, expected 2");
  arrays.erase("x.base");
  arrays["z"] = longs({1});
  nested::run::writeNpz(folder + "/in.npz", arrays);
  expect(1, "block.so --input in.npz", "'z' belongs to no argument");
  arrays.erase("z");
  arrays["x"] = longs({1});
  nested::run::writeNpz(folder + "/in.npz", arrays);
  expect(1, "block.so --input in.npz", "'x' is i8, expected f4 (f32)");
}

TEST_F(Tool, NoPartialOutput) {
  size_t before = files().size();
  expect(3, "block.so --lengths N=3 --output no/such/folder.npz",
         "no/such/folder.npz: cannot open");
  expect(1, "block.so --lengths N=-3 --output out.npz", "error");
  EXPECT_EQ(before, files().size());
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

std::string failure(const std::string &path) {
  try {
    nested::run::readNpz(path);
  } catch (const nested::run::Failure &failure) {
    return failure.message;
  }
  return "";
}

TEST_F(Tool, NpzRoundTrip) {
  NpzFile arrays;
  arrays["a"] = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  arrays["empty"] = floats({0, 4}, {});
  arrays["scalar"] = floats({}, {7});
  arrays["x.lengths"] = longs({1, -2});
  std::string path = folder + "/t.npz";
  nested::run::writeNpz(path, arrays);
  NpzFile back = nested::run::readNpz(path);
  ASSERT_EQ(arrays.size(), back.size());
  for (auto &[name, array] : arrays) {
    EXPECT_EQ(array.shape, back[name].shape) << name;
    EXPECT_EQ(array.bytes, back[name].bytes) << name;
    EXPECT_EQ(array.kind, back[name].kind) << name;
  }
}

TEST_F(Tool, HostileNpz) {
  NpzFile arrays;
  arrays["a"] = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  std::string path = folder + "/t.npz";
  nested::run::writeNpz(path, arrays);
  std::string good = read("t.npz");
  // Cut off anywhere: an error, and no crash.
  for (size_t size = 0; size < good.size(); ++size) {
    write("t.npz", good.substr(0, size));
    EXPECT_NE("", failure(path)) << size;
  }
  // Every byte changed: an error, or a file that is read all the same
  // (dates, flags); never a crash.
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    write("t.npz", bad);
    (void)failure(path);
  }
}

TEST_F(Tool, HostileNpy) {
  auto error = [](const std::string &dict) -> std::string {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dict.size() & 0xff);
    bytes += static_cast<char>(dict.size() >> 8);
    try {
      nested::run::parseNpy(bytes + dict, "t");
    } catch (const nested::run::Failure &failure) {
      return failure.message;
    }
    return "";
  };
  EXPECT_EQ("", error("{'descr': '<f4', 'fortran_order': False, 'shape': (0,"
                      "), }\n"));
  for (const char *dict :
       {"", "{", "{}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<f99', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(99999999999999999999,)}"})
    EXPECT_NE("", error(dict)) << dict;
}

} // namespace
