# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our compiled block as a method of the benchmark of PyTorch programs.

    python harness.py run --workload sps --layout square --mode fwd --variant eager --extra THIS_FILE
    python THIS_FILE --check       outputs against the loop over samples in float64

Run by a Python that has torch. What is timed is a call of the compiled function on a batch made
before (binding, plan and results included), with weights made from the same model, in our layout.
In training that is one call too: forward, loss, gradients of weights and inputs, and the update, which is
written to the weights' memory.
Results are new arrays, whose memory malloc keeps from step to step where the harness says so.

NESTED_BUILD_DIR: a build tree (default: build/ of this repository), unless `nested` is installed.
NESTED_BENCH_DIR: the folder of harness.py, for --check (default: ../shared/bench beside the repository).
"""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import programs  # noqa: E402

if "method" not in sys.modules:
    folder = measure.bench_folder(os.environ.get("NESTED_BENCH_DIR"))
    if folder is None:
        raise SystemExit(f"{Path(__file__).name}: set NESTED_BENCH_DIR to the folder of harness.py")
    sys.path.insert(0, str(folder))

import method  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

try:
    import nested
except ImportError:
    measure.use_build(os.environ.get("NESTED_BUILD_DIR", measure.ROOT / "build"))
    import nested


def weights_of(model):
    """The model's weights by the names of programs.block; products as (K, M)."""
    gate, up = model.gate_up.weight.detach().chunk(2)
    found = {
        "u": model.u.weight.t(), "u_bias": model.u.bias, "v": model.v.weight.t(), "v_bias": model.v.bias,
        "scale": model.norm.weight, "offset": model.norm.bias, "gate": gate.t(), "up": up.t(),
        "down": model.down.weight.t(), "out": model.out.weight.t(), "out_bias": model.out.bias,
    }  # fmt: skip
    return {name: programs.aligned(w.detach().numpy()) for name, w in found.items()}


def train_step(w, inputs, scales, rate):
    """Loss, updated weights, gradients of the inputs."""

    def loss(w, inputs):
        outputs = programs.block(inputs[0], w, *inputs[1:])
        return sum(nested.losses.weighted_squares(x, s) for x, s in zip(outputs, scales))

    value, (gradients, of_inputs) = nested.value_and_grad(loss, (0, 1))(w, inputs)
    return value, {name: w[name] - rate * gradients[name] for name in w}, of_inputs


class Ours(method.Method):
    """The function of programs.py, written for one sample, compiled once."""

    program = staticmethod(programs.block)

    def build(self):
        if self.compiled:
            raise ValueError("ours is always compiled: see the variant eager")
        self.weights = weights_of(self.model)
        self.block = nested.jit(self.program)
        self.train_step = nested.jit(train_step, donate="w")
        nested.set_num_threads(torch.get_num_threads())

    def collate(self, samples, train):
        inputs = samples[0][:1] if samples[0][0] is samples[0][1] else samples[0]
        batches = [
            self.batch([s[k] for s in samples], name) for k, name in zip(range(len(inputs)), "NM")
        ]
        rows, count = [len(x) for x, _ in samples], len(samples)
        scales = [
            nested.from_list([np.float32(s) for s in values], ragged=())
            for values in zip(*((1 + i / count, 1.5 - i / (2 * count)) for i in range(count)))
        ]  # As method.loss_weights.
        return SimpleNamespace(leaves=[], inputs=batches, rows=rows, scales=scales)

    @staticmethod
    def batch(tensors, name):
        """Samples (..., N, C) packed by their only ragged axis."""
        values = programs.aligned(torch.cat([t.movedim(-2, 0) for t in tensors]).numpy())
        dims = (*tensors[0].shape[:-2], name, programs.SINGLE)
        return nested.from_values(values, [t.shape[-2] for t in tensors], dims=dims)

    def forward(self, batch):
        return self.block(batch.inputs[0], self.weights, *batch.inputs[1:])

    def step(self, batch, mode):
        if mode == "fwd":
            return self.forward(batch)
        loss, self.weights, self.gradients = self.train_step(
            self.weights, batch.inputs, batch.scales, np.float32(method.LEARNING_RATE)
        )
        return torch.tensor(float(loss))

    def unpack(self, outputs, batch):
        single, pair = outputs
        return [
            (torch.from_numpy(single.sample(i)), torch.from_numpy(pair.sample(i)))
            for i in range(len(batch.rows))
        ]


class OursSingles(Ours):
    """The block where only the singles are used, forward."""

    program = staticmethod(programs.block_singles)

    def collate(self, samples, train):
        if train:
            raise NotImplementedError("only the forward of the singles is measured")
        return super().collate(samples, train)

    def unpack(self, outputs, batch):
        return [(torch.from_numpy(outputs.sample(i)),) for i in range(len(batch.rows))]


METHODS = {"sps": {"ours": Ours, "ours_singles": OursSingles}}


def check():
    """Largest difference from float64 per output, relative to its largest value."""
    import copy

    import sps

    torch.set_num_threads(1)
    model = sps.make_model()
    worst = 0.0
    for layout in sps.LAYOUTS:
        columns = (3, 5, 1, 9, 12, 4, 33) if layout == "rectangular" else None
        rows = (7, 1, 19, 4, 12, 100, 33)
        samples = sps.make_samples(layout, list(zip(rows, columns or rows)))
        doubles = {}
        exact = [tuple(doubles.setdefault(id(t), t.double()) for t in pair) for pair in samples]
        ours, loop = Ours(model), sps.METHODS["loop"](copy.deepcopy(model).double())
        results = []
        for function, data in ((ours, samples), (loop, exact)):
            batch = function.collate(data, False)
            with torch.no_grad():
                results.append(function.unpack(function.forward(batch), batch))
        worst = max(worst, *(
            float((a.double() - b).abs().max() / b.abs().max())
            for got, wanted in zip(*results)
            for a, b in zip(got, wanted)
        ))  # fmt: skip
    print(
        f"Largest difference of our block from the loop in float64: {worst:.1e} of a sample's largest"
    )
    return 0 if worst < 1e-5 else 1


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        raise SystemExit(__doc__)
    raise SystemExit(check())
