#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model to tell families of protein domains apart.

    train_proteins.py [--epochs 20] [--save state.npz] [--resume state.npz]

The model is the single-pair-single block, with a pooled head: residues are embedded with their
neighbours, every pair of residues gets features that a transition changes, the mean over the second residue
returns to the residues, and their mean and their largest values decide. It is written for one protein; parts of
different lengths make batches without padding. A step (forward, backward, AdamW) is one compiled
program, for every batch.

The data are real domains of five families (examples/proteins/families.fasta says where from). Whole domains could be
told apart by their length (95 % of them), so what is seen of one is a part of 40 to 64 residues, another one each
time. Sequences that are alike (they share a third of their triples) are all in the training set or all held out. What is
printed at the end is the accuracy on parts of those held out, beside that of the most frequent family and of a classifier
that sees only the length.
"""

import argparse
import pathlib
import sys
import time

import numpy as np

import nested
from nested import losses, nn, optim

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
UNKNOWN, OUTSIDE = 20, 21
WINDOW = 5  # residues that one position sees
SHORTEST, LONGEST = 40, 64  # residues of the part of a domain that is seen
WIDTH, PAIR, HIDDEN = 32, 16, 32


# --- The model, for one protein -----------------------------------------------------------


def features(params, tokens):
    """tokens: (N, WINDOW) residues around each position."""
    x = sum(np.take(params["embed"][k], tokens[:, k], axis=0) for k in range(WINDOW))
    w = params["block"]
    y = nested.layer_norm(x)
    p = (y @ w["u"])[:, None, :] + (y @ w["v"])[None, :, :]
    p = p + nn.swiglu(nested.layer_norm(p), w["h"])
    return x + nested.mean(p, axis=1) @ w["g"]


def logits(params, tokens):
    x = features(params, tokens)
    mean, most = nested.layer_norm(nested.mean(x, axis=0)), nested.layer_norm(nested.max(x, axis=0))
    head = params["head"]
    return nested.linear(mean, head["mean"], head["b"]) + most @ head["most"]


def loss(params, tokens, label):
    return losses.cross_entropy(logits(params, tokens), label, label_smoothing=0.05)


optimizer = optim.adamw(weight_decay=0.05)


@nested.jit(donate=("params", "state"))
def step(params, state, tokens, label, rate):
    value, grads = nested.value_and_grad(loss)(params, tokens, label)
    grads, norm = optim.clip_by_global_norm(grads, 1.0)
    params, state = optimizer.update(grads, state, params, rate)
    return value, norm, params, state


@nested.jit
def predict(params, tokens):
    return logits(params, tokens)


def initial(rng, classes):
    def weights(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    table = [0.3 * rng.standard_normal((22, WIDTH)).astype(np.float32) for _ in range(WINDOW)]
    hidden = {
        "gate": weights(PAIR, HIDDEN),
        "up": weights(PAIR, HIDDEN),
        "down": weights(HIDDEN, PAIR),
    }
    block = {
        "u": weights(WIDTH, PAIR),
        "v": weights(WIDTH, PAIR),
        "h": hidden,
        "g": weights(PAIR, WIDTH),
    }
    head = {"mean": weights(WIDTH, classes), "most": weights(WIDTH, classes),
            "b": np.zeros(classes, np.float32)}  # fmt: skip
    return {"embed": table, "block": block, "head": head}


# --- Data -----------------------------------------------------------------------------------


def read_families(path):
    """(sequence, family) of each record of a FASTA file."""
    records = []
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            records.append(["", line.split()[1]])
        elif line and not line.startswith(";"):
            records[-1][0] += line
    return [(sequence, family) for sequence, family in records]


def groups_of(sequences):
    """A group number for each sequence: those that share a third of their triples are together."""
    triples = [{s[k : k + 3] for k in range(len(s) - 2)} for s in sequences]
    group = list(range(len(sequences)))
    for i, a in enumerate(triples):
        for j in range(i):
            if len(a & triples[j]) * 3 >= min(len(a), len(triples[j])) and group[i] != group[j]:
                old, new = group[i], group[j]
                group = [new if g == old else g for g in group]
    return group


def split(records, rng):
    """Indices to train on and to hold out: a quarter of each family, in whole groups."""
    group = groups_of([s for s, _ in records])
    held = set()
    for family in sorted({f for _, f in records}):
        own = sorted({g for g, (_, f) in zip(group, records) if f == family})
        wanted = sum(f == family for _, f in records) / 4
        count = 0
        for g in rng.permutation(own):
            if count >= wanted:
                break
            held.add(int(g))
            count += sum(x == g for x in group)
    indices = range(len(records))
    return [k for k in indices if group[k] not in held], [k for k in indices if group[k] in held]


def codes_of(sequence):
    return np.array([LETTERS.find(c) if c in LETTERS else UNKNOWN for c in sequence], np.int64)


def windows_of(codes):
    padded = np.pad(codes, WINDOW // 2, constant_values=OUTSIDE)
    return np.stack([padded[k : k + len(codes)] for k in range(WINDOW)], axis=1)


def part_of(codes, rng):
    """A part of a domain, of random length and place."""
    size = min(int(rng.integers(SHORTEST, LONGEST + 1)), len(codes))
    begin = int(rng.integers(0, len(codes) - size + 1))
    return codes[begin : begin + size]


def batch_of(parts):
    tokens = nested.from_list([windows_of(codes) for codes, _ in parts])
    labels = nested.from_list([np.int64(label) for _, label in parts], ragged=())
    return tokens, labels


def by_length(train, held):
    """The family that most of five training parts of the nearest lengths have."""
    guesses = []
    for codes, _ in held:
        near = sorted(train, key=lambda d: abs(len(d[0]) - len(codes)))[:5]
        labels = [label for _, label in near]
        guesses.append(max(set(labels), key=lambda c: (labels.count(c), -labels.index(c))))
    return guesses


# --- State in a file ------------------------------------------------------------------------


def flat(tree, path=""):
    """Arrays of a nest by name: block.h.gate."""
    if isinstance(tree, dict):
        children = tree.items()
    elif isinstance(tree, list):
        children = enumerate(tree)
    else:
        return {path: tree}
    return {k: v for key, child in children for k, v in flat(child, f"{path}.{key}").items()}


def filled(tree, arrays, path=""):
    """A nest like another, with arrays by name."""
    if isinstance(tree, dict):
        return {key: filled(child, arrays, f"{path}.{key}") for key, child in tree.items()}
    if isinstance(tree, list):
        return [filled(child, arrays, f"{path}.{k}") for k, child in enumerate(tree)]
    return arrays[path][()]


def main():
    here = pathlib.Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=here / "proteins/families.fasta")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--total", type=int, help="epochs that the learning rate falls over")
    parser.add_argument("--batch", type=int, default=16, help="sequences in a step")
    parser.add_argument("--rate", type=float, default=0.004)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=pathlib.Path, help="write the state after each epoch")
    parser.add_argument("--resume", type=pathlib.Path, help="go on from a saved state")
    options = parser.parse_args()

    records = read_families(options.data)
    families = sorted({family for _, family in records})
    train_rows, held_rows = split(records, np.random.default_rng(1))
    data = [(codes_of(s), families.index(f)) for s, f in records]
    train, held = [data[k] for k in train_rows], [data[k] for k in held_rows]
    lengths = [len(t) for t, _ in data]
    print(
        f"{len(data)} domains of {len(families)} families, {min(lengths)} to {max(lengths)} residues: "
        f"{len(train)} to train on, {len(held)} held out"
    )

    params = initial(np.random.default_rng(options.seed), len(families))
    state = {"params": params, "optimizer": optimizer.init(params), "epoch": np.int64(0)}
    if options.resume:
        state = filled(state, np.load(options.resume))
    steps = -(-len(train) // options.batch)
    terminal = sys.stdout.isatty()
    for epoch in range(int(state["epoch"]), options.epochs):
        rng = np.random.default_rng([options.seed, epoch])
        order = rng.permutation(len(train))
        total, started, seen = 0.0, time.perf_counter(), 0
        for k in range(steps):
            chosen = order[k * options.batch : (k + 1) * options.batch]
            parts = [(part_of(train[i][0], rng), train[i][1]) for i in chosen]
            done = (epoch * steps + k) / ((options.total or options.epochs) * steps)
            rate = np.float32(options.rate * min(1, 10 * (done + 0.02)) * (1 - 0.95 * done))
            value, norm, state["params"], state["optimizer"] = step(
                state["params"], state["optimizer"], *batch_of(parts), rate
            )
            total, seen = total + float(value) * len(chosen), seen + len(chosen)
            speed = seen / (time.perf_counter() - started)
            line = f"epoch {epoch + 1:3d}/{options.epochs}  step {k + 1:3d}/{steps}  loss {total / seen:.4f}"
            if terminal:
                print(f"\r{line}  {speed:.0f} samples/s ", end="", flush=True)
        print(("\r" if terminal else "") + f"{line}  {speed:.0f} samples/s ")
        state["epoch"] = np.int64(epoch + 1)
        if options.save:
            np.savez(options.save, **flat(state))

    # Three parts of each sequence that was held out.
    rng = np.random.default_rng(2)
    held = [(part_of(codes, rng), label) for codes, label in held for _ in range(3)]
    seen_parts = [(part_of(codes, rng), label) for codes, label in train for _ in range(3)]
    labels = np.array([label for _, label in held])
    scores = predict(state["params"], batch_of(held)[0])
    model = float(np.mean(np.argmax(scores.values, axis=1) == labels))
    counts = np.bincount([label for _, label in train], minlength=len(families))
    majority = float(np.mean(labels == counts.argmax()))
    length = float(np.mean(np.array(by_length(seen_parts, held)) == labels))
    print(
        f"held out: accuracy {model:.3f}, most frequent family {majority:.3f}, length only {length:.3f}; "
        f"the step was compiled {step.compilations} times"
    )
    return 0 if model > max(majority, length) else 1


if __name__ == "__main__":
    sys.exit(main())
