# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ahead of time: export, load, call, and what is refused."""

import json

import numpy as np
import pytest
from helpers import batch_of, close, normal, raises, same_bits

import nested


def layer(x, w, scale=2.0):
    return {"out": (x @ w["u"]) * scale + w["b"], "mean": nested.mean(x, axis=0)}


@pytest.fixture(scope="module")
def w():
    rng = np.random.default_rng(5)
    return {"u": normal(rng, 8, 6), "b": normal(rng, 6)}


@pytest.fixture(scope="module")
def path(tmp_path_factory, w):
    path = tmp_path_factory.mktemp("artifact") / "layer.so"
    nested.export(layer, nested.spec("N", 8), w, scale=3.0).save(path)
    return path


def test_load_and_call(rng, path, w):
    module = nested.load(path)
    assert module.entries == ["layer"]
    batch = batch_of(rng, (5, 0, 9), 8)
    expected = nested.jit(layer)(batch, w, scale=3.0)
    for function in (module.layer, module["layer"], module):
        mean, out = function(batch, w)
        same_bits(out.values, expected["out"].values)
        same_bits(mean.values, expected["mean"].values)
    by_name = module.layer(w=w, x=batch)
    same_bits(by_name[1].values, expected["out"].values)


def test_one_artifact_serves_every_batch(rng, path, w):
    module = nested.load(path)
    for lengths in ((), (1,), (3, 0, 4), tuple(range(8)), (1,) * 500):
        batch = batch_of(rng, lengths, 8)
        mean, out = module(batch, w)
        assert out.lengths.tolist() == list(lengths) and len(mean) == len(lengths)
        close(out.values, batch.values.astype("f8") @ w["u"] * 3 + w["b"])


def test_plain_array_is_a_batch_of_one(rng, path, w):
    x = normal(rng, 5, 8)
    mean, out = nested.load(path)(x, w)
    assert isinstance(out, np.ndarray)
    close(out, x.astype("f8") @ w["u"] * 3 + w["b"])
    close(mean, x.astype("f8").mean(0))


def test_bytes_and_program(path):
    module = nested.load(path.read_bytes())
    assert "ragged.linear" in module.program
    stripped = nested.export(layer, nested.spec("N", 8),
                             {"u": nested.spec(8, 6), "b": nested.spec(6)}, strip_ir=True)  # fmt: skip
    assert nested.load(stripped.bytes).program == ""
    assert "layer" in repr(module)


def test_manifest_names_arguments_and_lines(path):
    entry = nested.load(path).layer.manifest
    assert [a["name"] for a in entry["args"]] == ["x", "w.b", "w.u"]
    assert [r["name"] for r in entry["results"]] == ["mean", "out"]
    assert "test_artifact.py" in json.dumps(entry)


def test_plan(path):
    plan = nested.load(path).plan([5, 0, 9])
    assert plan.result_bytes >= 4 * (14 * 6 + 3 * 8)
    assert nested.load(path).layer.cost([5]).flops > 0


def test_no_partial_file(tmp_path, w):
    exported = nested.export(layer, nested.spec("N", 8), w)
    with pytest.raises(OSError):
        exported.save(tmp_path / "missing" / "layer.so")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        exported.save(tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder"]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda f, x, w: f(x), "needs arguments `w.b`, `w.u`"),
        (lambda f, x, w: f(x, w, w), "takes 2 arguments (x, w), but got 3"),
        (lambda f, x, w: f(x, w, y=1), "has no argument `y`; it has x, w"),
        (lambda f, x, w: f(x, {**w, "c": w["b"]}), "does not use `w.c`"),
        (lambda f, x, w: f(x, w, x=x), "got two values for argument `x`"),
        (lambda f, x, w: f(x, {**w, "b": x}), "argument `w.b` is shared by all samples"),
        (lambda f, x, w: f(x[0][0], w), "argument `x` has 1 axes, the program takes (N, 8)"),
        (lambda f, x, w: f(x.astype("f8"), w), "f64"),
        (lambda f, x, w: f(x, {**w, "b": w["b"].astype("f8")}), "f64"),
        (lambda f, x, w: f(x, {**w, "b": w["b"][:5]}), "w.b"),
        (lambda f, x, w: f(x.with_values(x.values[:, :7]), w), "x"),
        (lambda f, x, w: f(nested.from_list([np.zeros(3, "f4")]), w), "x"),
    ],
)
def test_bad_calls(rng, path, w, call, message):
    function = nested.load(path).layer
    with raises(nested.ArgumentError, message, line="lambda f, x, w"):
        call(function, batch_of(rng, (3, 2), 8), w)


def test_unknown_entry(path):
    module = nested.load(path)
    with pytest.raises(nested.ArgumentError, match="has no entry 'other'; it has layer"):
        module["other"]
    with pytest.raises(AttributeError, match="has no entry 'other'"):
        module.other  # noqa: B018


def test_bad_files(tmp_path, path):
    with pytest.raises(OSError):
        nested.load(tmp_path / "missing.so")
    data = path.read_bytes()
    cases = [b"", b"x" * 200, data[:-1], data[: len(data) // 2], data[:500] + b"!" + data[501:]]
    for bad in cases:
        with raises(nested.ArtifactError, line="nested.load(bad)"):
            nested.load(bad)


def test_misaligned_memory(rng, path, w):
    raw = np.zeros(4 * 5 * 8 + 1, np.uint8)
    values = raw[1:].view("f4").reshape(5, 8)
    batch = nested.from_values(values, [5])
    try:
        mean, out = nested.load(path)(batch, w)
    except nested.ArgumentError as error:
        assert "align" in str(error)
    else:
        close(out.values, np.tile(w["b"], (5, 1)))


def test_requirements_at_export(w):
    with raises(nested.RequirementError, "kernels"):
        nested.export(layer, nested.spec("N", 8), w, require="kernels < 1")


def test_bad_target(w):
    with pytest.raises((ValueError, nested.CompileError)):
        nested.export(layer, nested.spec("N", 8), w, target="abacus")
