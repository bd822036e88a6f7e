//===- RaggedGradientOps.td - requests for derivatives -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_GRADIENT_OPS
#define NESTED_RAGGED_GRADIENT_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_VariableOp : Ragged_PureOp<"variable", [SameOperandsAndResultType,
    Ragged_Differentiable]> {
  let summary = "the same numbers as another value, to differentiate with respect to";
  let description = [{
    A derivative is taken with respect to a *value*: every use of it counts. `variable` makes a value of
    its own, so that other uses of the source (by a closure, as another argument) do not count.
    `--ragged-autodiff` removes it.

    ```mlir
    %v = ragged.variable %w : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

// Not pure: what two of them give is never taken to be the same.
def Ragged_BarrierOp : Ragged_Op<"barrier", [AllTypesMatch<["source", "result"]>, MemoryEffects<[MemWrite]>,
    Ragged_Differentiable]> {
  let summary = "the same numbers as another value, which no pass takes to be the same";
  let description = [{
    What is computed from the result is computed again, even if it was computed from the source; and not before the
    values `after` are there. Nothing is copied.

    ```mlir
    %y = ragged.barrier %x after(%g : !ragged.tensor<[N, 4], f32>) : !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, Variadic<Ragged_AnyTensor>:$after);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source (`after` `(` $after^ `:` type($after) `)`)? attr-dict `:` type($source)";
}

def Ragged_StopGradientOp : Ragged_PureOp<"stop_gradient", [SameOperandsAndResultType]> {
  let summary = "the same numbers, constant to every derivative";
  let description = [{
    No derivative goes through it. `--ragged-autodiff` removes it.

    ```mlir
    %c = ragged.stop_gradient %x : !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Ragged_GradientOp : Ragged_PureOp<"gradient", [AttrSizedOperandSegments]> {
  let summary = "request for the derivatives of outputs with respect to variables";
  let description = [{
    For every variable *v* the result is the sum over the outputs *o* of `seed_o * d o / d v`, of the type of
    *v*. An output without a seed is a dense scalar, whose seed is 1. What lies between the variables
    and the outputs is found by following uses, inside the function; so a function is differentiated
    by calling it and asking for the derivative of what it returned. A module may hold several requests, and
    one may ask for derivatives of what another one gives (second derivatives).
    `--ragged-autodiff` replaces the op by the ops that compute it. A variable on which no
    output depends has derivative 0.

    ```mlir
    %v = ragged.variable %w : tensor<8x4xf32>
    %y = ragged.linear %x, %v : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32> -> !ragged.tensor<[N, 4], f32>
    %l = ragged.reduce sum %y dims [0, 1] batch : !ragged.tensor<[N, 4], f32> -> tensor<f32>
    %dw = ragged.gradient of(%l : tensor<f32>) wrt(%v : tensor<8x4xf32>) -> tensor<8x4xf32>
    %dx = ragged.gradient of(%y : !ragged.tensor<[N, 4], f32>) seeds(%g : !ragged.tensor<[N, 4], f32>)
        wrt(%x : !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Variadic<Ragged_AnyTensor>:$outputs, Variadic<Ragged_AnyTensor>:$seeds,
                       Variadic<Ragged_AnyTensor>:$variables);
  let results = (outs Variadic<Ragged_AnyTensor>:$gradients);
  let assemblyFormat = [{
    `of` `(` $outputs `:` type($outputs) `)` (`seeds` `(` $seeds^ `:` type($seeds) `)`)?
    `wrt` `(` $variables `:` type($variables) `)` attr-dict `->` type($gradients)
  }];
  let hasVerifier = 1;
}

def Ragged_CustomGradientOp : Ragged_PureOp<"custom_gradient", [AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">, Ragged_Differentiable]> {
  let summary = "values whose derivatives are given by a region";
  let description = [{
    The results are the `values`. How they were computed from the `inputs` does not matter to a derivative: the region
    gets the gradients of the results and yields one for every input, of its type. It may use
    whatever is computed before the op. `--ragged-autodiff` removes it.

    ```mlir
    %z = ragged.custom_gradient values(%y : tensor<8xf32>) inputs(%x : tensor<8xf32>) {
    ^bb0(%g: tensor<8xf32>):
      %d = ragged.map ins(%g, %x : tensor<8xf32>, tensor<8xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.mulf %a, %b : f32
        ragged.yield %c : f32
      } -> tensor<8xf32>
      ragged.yield %d : tensor<8xf32>
    } -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<Ragged_AnyTensor>:$values, Variadic<Ragged_AnyTensor>:$inputs);
  let results = (outs Variadic<Ragged_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `values` `(` $values `:` type($values) `)` `inputs` `(` $inputs `:` type($inputs) `)`
    attr-dict-with-keyword $body `->` type($results)
  }];
  let hasVerifier = 1;
}

def Ragged_CheckpointOp : Ragged_PureOp<"checkpoint", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "values that a derivative computes again";
  let description = [{
    The results are what the region yields. A derivative that goes through them keeps nothing of the region: it computes
    the region again, from what that reads, where it needs its values. A symbol that the region binds is
    bound once, and the value that binds it kept. `--ragged-autodiff` removes the op.

    ```mlir
    %y = ragged.checkpoint {
      %a = ragged.map ins(%x : !ragged.tensor<[N, 8], f32>) {
      ^bb0(%b: f32):
        %c = math.tanh %b : f32
        ragged.yield %c : f32
      } -> !ragged.tensor<[N, 8], f32>
      ragged.yield %a : !ragged.tensor<[N, 8], f32>
    } -> !ragged.tensor<[N, 8], f32>
    ```
  }];
  let results = (outs Variadic<Ragged_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body `->` type($results)";
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_GRADIENT_OPS
