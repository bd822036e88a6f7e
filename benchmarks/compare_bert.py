# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two encoder layers over ragged text beside PyTorch programs; run by `benchmarks/compare bert`."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare_common as common  # noqa: E402

LAYERS = 2
PEERS = ("padded", "fast", "packed", "nested", "nested_math", "danling")


def program(heads):
    """The encoder of one sample: (N, D) -> (N, D), post-norm, GELU."""
    import nested

    def encode(x, layers):
        for w in layers:
            features = x.shape[-1]
            qkv = nested.linear(x, w["qkv"], w["qkv_bias"])
            parts = [
                qkv[:, k * features : (k + 1) * features].reshape(
                    x.shape[0], heads, features // heads
                )
                for k in range(3)
            ]
            attended = nested.attention(*parts).reshape(x.shape[0], features)
            x = nested.layer_norm(
                x + nested.linear(attended, w["out"], w["out_bias"]), w["norm1"], w["norm1_bias"]
            )
            hidden = nested.nn.gelu(nested.linear(x, w["up"], w["up_bias"]))
            x = nested.layer_norm(
                x + nested.linear(hidden, w["down"], w["down_bias"]), w["norm2"], w["norm2_bias"]
            )
        return x

    return encode


def weights_of(layer):
    """Weights of an nn.TransformerEncoderLayer; products as (K, M)."""
    attention = layer.self_attn
    found = {
        "qkv": attention.in_proj_weight.t(), "qkv_bias": attention.in_proj_bias,
        "out": attention.out_proj.weight.t(), "out_bias": attention.out_proj.bias,
        "norm1": layer.norm1.weight, "norm1_bias": layer.norm1.bias,
        "up": layer.linear1.weight.t(), "up_bias": layer.linear1.bias,
        "down": layer.linear2.weight.t(), "down_bias": layer.linear2.bias,
        "norm2": layer.norm2.weight, "norm2_bias": layer.norm2.bias,
    }  # fmt: skip
    return {name: np.ascontiguousarray(w.detach().numpy()) for name, w in found.items()}


def main():
    options = common.start()
    import bert
    import torch

    import nested

    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    make = torch.nn.TransformerEncoderLayer
    stack = torch.nn.ModuleList(
        make(bert.D, bert.HEADS, bert.FFN, dropout=0.0, activation="gelu", batch_first=True)
        for _ in range(LAYERS)
    ).eval()
    encode = nested.jit(program(bert.HEADS))
    weights = [weights_of(layer) for layer in stack]
    prepared = encode.prepare(layers=weights)  # Packs them once, not in each call.
    batches = {name: bert.Batch(lengths) for name, lengths in bert.LENGTHS.items()}

    want = {}
    stack.double()
    for name, batch in batches.items():
        exact = bert.Padded()
        hidden = exact.hidden(stack, batch, exact.input(batch).double())
        want[name] = exact.packed(batch, hidden).numpy()
    stack.float()

    rows = common.Rows(options, "bert")
    rounds = common.QUICK_ROUNDS if options.quick else common.ROUNDS
    lines, names = [], [n for n in PEERS if n in bert.METHODS]
    for name, batch in batches.items():
        x = nested.from_values(batch.packed.numpy(), batch.lengths, dims=("N", bert.D))
        ours = encode(x, weights).values
        worst = float(np.abs(ours - want[name]).max() / np.abs(want[name]).max())
        calls = {"ours": lambda x=x: encode(x, weights), "prepared": lambda x=x: prepared(x)}
        for peer in names:
            try:
                method = bert.METHODS[peer]()
                given = method.input(batch)
                method.hidden(stack, batch, given)
            except Exception as error:
                print(f"{peer}, {name}: {bert.first_line(error)}")
                continue
            calls[peer] = lambda m=method, b=batch, g=given: m.hidden(stack, b, g)
        times = common.take_turns(calls, rounds, budget=0.0)
        ms = {n: common.typical_ms(t, options) for n, t in times.items()}
        best = min((ms[n] for n in names if n in ms), default=float("nan"))
        work = bert.gflop(batch.lengths, LAYERS, False)
        for n, t in ms.items():
            rows.add(layout="text", mode="fwd", regime=name, method=n, ms=t, peak_mb=None,
                     ratio_best_peer=best / t, gflops=work / t * 1e3)  # fmt: skip
        lines.append([name, f"{ms['ours']:.1f}", f"{ms['prepared']:.1f}", f"{best / ms['ours']:.2f}",
                      f"{best / ms['prepared']:.2f}",
                      f"{work / ms['ours'] * 1e3:.0f}", f"{worst:.1e}",
                      *(f"{ms[n] / ms['ours']:.2f}" if n in ms else "-" for n in names)])  # fmt: skip
    print(f"\n{LAYERS} layers, width {bert.D}, {bert.HEADS} heads; compiled {encode.compilations} time; "
          "times of peers as multiples of ours")  # fmt: skip
    head = ["batch", "ours ms", "prepared ms", "best peer / ours", "best peer / prepared",
            "ours GFLOP/s", "largest error", *names]  # fmt: skip
    common.table(head, lines)


if __name__ == "__main__":
    main()
