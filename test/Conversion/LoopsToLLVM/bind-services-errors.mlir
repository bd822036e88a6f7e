// RUN: nested-opt %s --bind-services --verify-diagnostics

func.func @quad(%x: f128) -> f128 {
  // expected-error @below {{'math.exp' op on 'f128' has no service: the host offers no function for it}}
  %r = math.exp %x : f128
  return %r : f128
}
