// RUN: nested-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-to-threads{threads=48}))'

// expected-error @below {{a block has a multiple of 32 threads, at most 1024, but 'threads' is 48}}
func.func @kernel(%begin: index, %end: index) attributes {ragged.kernel} {
  return
}
