# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ragged micro-operations beside other libraries; run by `benchmarks/compare ops`."""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare_common as common  # noqa: E402

PEERS = ("numpy", "torch", "nested", "awkward", "tf", "jax", "danling")
TITLES = {"nested": "torch.nested"}


class Ours:
    """The operations of ops.py as programs for one sample, compiled once each."""

    def __init__(self, case):
        import nested

        self.nested = nested
        named = ("N", case.C)
        self.x = nested.from_values(case.x, case.len, dims=named)
        self.u = nested.from_values(case.u, case.n, dims=named)
        self.v = nested.from_values(case.v, case.n, dims=named)
        self.pair = nested.from_values(case.pair, case.n, dims=("N", "N", case.C))
        self.idx = nested.from_values(case.idx, case.len, dims=("N",))
        self.padded, self.lengths = case.padded, case.len
        self.w = np.ascontiguousarray(case.w.T)
        self.programs = {
            "seg_sum": lambda x: nested.sum(x, axis=0),
            "seg_mean": lambda x: nested.mean(x, axis=0),
            "seg_max": lambda x: nested.max(x, axis=0),
            "seg_softmax": lambda x: nested.softmax(x, axis=0),
            "layer_norm": lambda x: nested.layer_norm(x),
            "pair_add": lambda u, v: u[:, None] + v[None, :],
            "pair_mean": lambda p: nested.mean(p, axis=1),
            "cumsum": lambda x: nested.cumsum(x, axis=0),
            "argmax": lambda x: nested.argmax(x, axis=0),
            "gather": lambda x, i: nested.take(x, i, axis=0),
            "sort": lambda x: nested.sort(x, axis=0),
            "linear_gelu": lambda x, w: nested.nn.gelu(x @ w),
        }
        self.arguments = {"pair_add": (self.u, self.v), "pair_mean": (self.pair,),
                          "gather": (self.x, self.idx), "linear_gelu": (self.x, self.w)}  # fmt: skip

    def call(self, op):
        """A function that does the operation, and one that gives its numbers."""
        if op == "to_padded":
            return lambda: self.x.to_padded(), np.asarray
        if op == "from_padded":
            return (lambda: self.nested.from_padded(self.padded, lengths=self.lengths),
                    lambda r: r.values)  # fmt: skip
        compiled = self.nested.jit(self.programs[op])
        arguments = self.arguments.get(op, (self.x,))
        return lambda: compiled(*arguments), lambda r: r.values


def agrees(op, got, want):
    got = got[: len(want)] if op == "linear_gelu" else got
    return got.shape == want.shape and np.allclose(got, want, 1e-4, 1e-4)


def best_way(ops, name, case, op, want):
    """The quickest way of a peer that gives the right numbers, or why there is none."""
    peer = {"numpy": "Numpy", "torch": "Torch", "nested": "Nested", "awkward": "Awkward",
            "tf": "Tensorflow", "jax": "Jax", "danling": "Danling"}[name]  # fmt: skip
    made = getattr(ops, peer)(case)
    found = None
    why = "no such way"
    for way, function in ops.ways(made, op):
        try:
            if not agrees(op, made.array(op, function()), want):
                why = "wrong numbers"
                continue
            took = min(common.take_turns({"it": function}, 2, 0.005)["it"])
        except Exception as error:
            why = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            continue
        if found is None or took < found[0]:
            found = took, way, function
    return found, why


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", default="1,64,256")
    parser.add_argument("--only")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--peers", default=",".join(PEERS))
    options = common.start(parser)
    import importlib

    import ops

    have = {"numpy": "numpy", "torch": "torch", "nested": "torch", "awkward": "awkward",
            "tf": "tensorflow", "jax": "jax", "danling": "danling"}  # fmt: skip
    peers = []
    for peer in options.peers.split(","):
        try:
            importlib.import_module(have[peer])
            peers.append(peer)
        except ImportError:
            print(f"not installed: {have[peer]}")
    if "torch" in peers:
        import torch

        torch.set_num_threads(options.threads)
    rows = common.Rows(options, "ops")
    rounds = options.rounds or (common.QUICK_ROUNDS if options.quick else common.ROUNDS)
    chosen = options.only.split(",") if options.only else ops.OPS
    for features in map(int, options.features.split(",")):
        case = ops.Case(features)
        source = np.ones_like(case.x)
        target = np.empty_like(source)
        copy_calls = {"copy": copier(source, target, options.threads)}
        lines = []
        for op in chosen:
            want = case.reference(op)
            line = [op]
            try:
                ours, numbers = Ours(case).call(op)
                right = agrees(op, numbers(ours()), want)
            except Exception as error:
                lines.append([op, f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"])
                continue
            calls, why = {"ours": ours}, {}
            for peer in peers:
                found, reason = best_way(ops, peer, case, op, want)
                if found:
                    calls[peer] = found[2]
                else:
                    why[peer] = reason
            times = common.take_turns(calls | copy_calls, rounds)
            ms = {name: common.typical_ms(t, options) for name, t in times.items()}
            best = min((ms[p] for p in calls if p != "ours"), default=float("nan"))
            moved = case.bytes(op) / (2 * source.nbytes)
            share = moved * ms["copy"] / ms["ours"]
            rows.add(layout=f"C={features}", mode="fwd", regime="uniform", op=op, method="ours",
                     ms=ms["ours"], peak_mb=None, ratio_best_peer=best / ms["ours"],
                     share_of_copy=share, correct=bool(right))  # fmt: skip
            for peer in calls:
                if peer != "ours":
                    rows.add(layout=f"C={features}", mode="fwd", regime="uniform", op=op, method=peer,
                             ms=ms[peer], peak_mb=None, ratio_best_peer=best / ms[peer])  # fmt: skip
            line += [f"{ms['ours']:.3f}" + ("" if right else " WRONG"), f"{best / ms['ours']:.2f}",
                     f"{100 * share:.0f}%"]  # fmt: skip
            line += [f"{ms[p] / ms['ours']:.2f}" if p in ms else "-" for p in peers]
            lines.append(line)
        print(f"\nC = {features}: {case.T} rows of {case.B} samples, {case.P} pair rows; "
              "times of peers as multiples of ours")  # fmt: skip
        head = ["op", "ours ms", "best peer / ours", "of copy"]
        head += [TITLES.get(p, p) for p in peers]
        common.table(head, lines)


def copier(source, target, threads):
    """Copies an array on as many threads, as the yardstick of memory."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads)))
    return lambda: list(pool.map(lambda pair: np.copyto(*pair), parts))


if __name__ == "__main__":
    main()
