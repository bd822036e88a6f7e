//===- Options.cpp - The command line of nested-run -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Failure.h"

#include <charconv>
#include <functional>

using namespace nested::run;

const char *const nested::run::helpText =
    R"help(OVERVIEW: runs an entry of a compiled artifact on a batch

USAGE: nested-run OUT.so [options]
       nested-run FILE.mlir [options]     (compiles it first, with nested-compile)

Without --input, arguments are random: floats from -1 to 1, integers 0 or 1.
Without any option, prints what the artifact contains.

OPTIONS:
  --entry NAME           The entry to run; needed if there are several.
  --lengths N=17,230,0   One length per sample for a symbol of the signature;
                         may be repeated. The name of a batch (B=3) gives the
                         number of samples where no length does.
  --input FILE.npz       Arguments (see below).
  --output FILE.npz      Where results go, in the same form. Written completely
                         or not at all.
  --device cpu|reference Run the compiled code (default), or interpret the
                         program that the artifact carries.
  --program FILE.mlir    With --device reference: interpret this form of the
                         program instead, from the tensor to the kernels phase.
  --threads N            Threads to use (default: the processors it may use).
  --prepare              Do what depends on shared arguments alone (packing
                         weights) once, before the runs.
  --repeat N             Run N times and report the fastest and the median.
  --profile              Run and print where time goes, by step: time, GFLOP/s
                         and GB/s beside what this machine reaches.
  --trace FILE.json      Run and write what each thread did when, in the form
                         that chrome://tracing and Perfetto open.
  --plan                 Print shapes, memory, and the FLOPs and bytes of each
                         step; do not run. Needs lengths only, no data.
  --max-bytes N          Refuse calls that need more memory than this.
  --seed N               Of the random arguments (default 0).
  --describe             Print entries, arguments and results; do not run.
  --help, --version

ARRAYS: for an argument or result NAME
  NAME              dense: the array. Ragged: the packed values, an array
                    [rows, static dims...]
  NAME.lengths      one length per sample; NAME.lengths.0, .1, ... if several
                    dims are ragged. May be left out where --lengths, or
                    another argument, says it
  NAME.path_lengths the lengths of an inner path component
                    (NAME.path_lengths.0, ... if there are several)
  NAME.base         the first row of each sample (default: packed)

EXIT CODES: 0 success, 1 wrong input, 2 wrong command line, 3 a file, memory or
library is missing, 4 internal error.

EXAMPLES:
  nested-run block.so --lengths N=17,230,0,64 --plan
  nested-run block.so --input batch.npz --output result.npz --threads 4
  nested-run block.so --lengths N=64,64 --device reference --output ref.npz
)help";

namespace {
class OptionParser {
public:
  OptionParser(int argc, char **argv) : argc(argc), argv(argv) {}

  Options parse() {
    bool literal = false; // After "--", everything is a file.
    for (index = 1; index < argc; ++index) {
      std::string word = argv[index];
      if (!literal && word == "--")
        literal = true;
      else if (!literal && word.size() > 1 && word[0] == '-')
        parseFlag(word);
      else if (options.input.empty())
        options.input = word;
      else
        usage("unexpected '" + word + "': one input only");
    }
    if (options.input.empty() && !options.help && !options.version)
      usage("no input file");
    if (!options.program.empty() && !options.reference)
      usage("--program is what --device reference interprets");
    if (options.prepare && options.reference)
      usage("--prepare is a step of compiled code; the interpreter "
            "(--device reference) has none");
    if ((options.profile || !options.trace.empty()) && options.reference)
      usage("--profile and --trace time compiled code; the interpreter "
            "(--device reference) has no steps");
    return options;
  }

private:
  [[noreturn]] static void usage(const std::string &message) {
    fail(BadCommandLine, message + "\nTry 'nested-run --help'.");
  }

  std::string flag;
  bool hasValue = false;
  std::string value;

  std::string takeValue() {
    if (hasValue) {
      hasValue = false;
      return value;
    }
    if (index + 1 >= argc)
      usage(flag + " needs a value");
    return argv[++index];
  }

  int64_t takeInteger(int64_t low, int64_t high) {
    std::string text = takeValue();
    int64_t number;
    auto [end, status] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size() ||
        number < low || number > high)
      usage(flag + ": expected an integer from " + std::to_string(low) +
            " to " + std::to_string(high) + ", got '" + text + "'");
    return number;
  }

  void parseFlag(std::string word) {
    if (word[1] != '-')
      word.insert(0, "-"); // -help means --help.
    size_t equals = word.find('=');
    flag = word.substr(0, equals);
    hasValue = equals != std::string::npos;
    value = hasValue ? word.substr(equals + 1) : "";
    if (flag == "--entry")
      options.entry = takeValue();
    else if (flag == "--lengths")
      parseLengths(takeValue());
    else if (flag == "--input")
      options.inputArrays = takeValue();
    else if (flag == "--output")
      options.outputArrays = takeValue();
    else if (flag == "--device")
      parseDevice(takeValue());
    else if (flag == "--program")
      options.program = takeValue();
    else if (flag == "--threads")
      options.threads = takeInteger(1, 4096);
    else if (flag == "--repeat")
      options.repeat = takeInteger(1, 1000000);
    else if (flag == "--seed")
      options.seed = static_cast<uint64_t>(takeInteger(0, INT64_MAX));
    else if (flag == "--max-bytes")
      options.maxBytes = takeInteger(1, INT64_MAX);
    else if (flag == "--plan")
      options.plan = true;
    else if (flag == "--prepare")
      options.prepare = true;
    else if (flag == "--profile")
      options.profile = true;
    else if (flag == "--trace")
      options.trace = takeValue();
    else if (flag == "--describe")
      options.describe = true;
    else if (flag == "--help" || flag == "--h")
      options.help = true;
    else if (flag == "--version")
      options.version = true;
    else
      usage("unknown option " + flag);
    if (hasValue)
      usage(flag + " takes no value");
  }

  void parseDevice(const std::string &device) {
    if (device != "cpu" && device != "reference")
      usage("--device: expected cpu or reference, got '" + device + "'");
    options.reference = device == "reference";
  }

  void parseLengths(const std::string &text) {
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      usage("--lengths: expected SYMBOL=n,n,..., got '" + text + "'");
    std::string name = text.substr(0, equals);
    std::vector<int64_t> lengths;
    const char *at = text.data() + equals + 1, *end = text.data() + text.size();
    while (at != end) {
      int64_t n;
      auto [next, status] = std::from_chars(at, end, n);
      if (status != std::errc() || (next != end && *next != ',') ||
          next + 1 == end)
        usage("--lengths: expected SYMBOL=n,n,..., got '" + text + "'");
      lengths.push_back(n);
      at = next == end ? end : next + 1;
    }
    if (!options.lengths.emplace(name, std::move(lengths)).second)
      usage("--lengths: '" + name + "' twice");
  }

  int argc;
  char **argv;
  int index = 0;
  Options options;
};
} // namespace

Options nested::run::parseOptions(int argc, char **argv) {
  return OptionParser(argc, argv).parse();
}
