# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of wrong inputs, from the compiler to the runtime: programs and artifacts that are
real, where the unit tests of each part make theirs by hand."""

import os
import struct
import subprocess

import numpy as np
import pytest
from helpers import batch_of, raises, unnamed
from oracle import LIBRARIES, Program, RunError, View
from oracle_programs import ragged_types

import nested
from nested import _core

TOOLS = LIBRARIES.parent / "bin"


def program(text):
    return Program(ragged_types(text))


@pytest.fixture(scope="module")
def pairs():
    return program("""func.func @pairs(%x: <N, 2>) -> <N, N, 2> {
  %y = ragged.broadcast %x dims [0, 2] : <N, 2> -> <N, N, 2>
  return %y : <N, N, 2> }""")


@pytest.fixture(scope="module")
def artifact():
    return nested.export(lambda x: x + 1, nested.spec("N", 2)).bytes


def refused(message, function, *args, **kwargs):
    with pytest.raises(RunError) as e:
        function(*args, **kwargs)
    for part in [message] if isinstance(message, str) else message:
        assert part in str(e.value), str(e.value)


# --- Lengths -------------------------------------------------------------------------


def view(lengths, rows=4, base=None):
    """No sample is longer than what the base table says; the memory has so many rows."""
    return [
        View(np.zeros((rows, 2), "f4"), [lengths], [0] * len(lengths) if base is None else base)
    ]


def test_squares_that_overflow(pairs):
    wide = program("""func.func @pairs(%x: <N, 0>) -> <N, N, 2> {
  %y = ragged.fill 1.0 : f32 -> <N, N, 2>
  return %y : <N, N, 2> }""")
    huge = View(np.zeros((2**33, 0), "f4"), [[3, 2**33]], [0, 0])
    refused(["overflows 64 bits", "sample 1"], wide.plan, [huge])
    many = View(np.zeros((2**31, 0), "f4"), [[2**31] * 3], [0, 0, 0])
    refused("overflows 64 bits", wide.plan, [many])


def test_more_than_memory(pairs):
    rows = 3_000_000
    with pytest.raises(RunError) as e:
        pairs.plan([View(np.zeros((rows, 2), "f4"), [[rows]], [0])])
    assert str(rows**2 * 8) in str(e.value) and "Nothing was allocated" in str(e.value)
    refused("the limit is 1000", pairs.plan, view([4]) * 1, max_bytes=1000)


@pytest.mark.parametrize(
    "lengths, base, message",
    [([2, -1], [0, 2], ["sample 1", "negative length -1"]),
     ([2, 2], [2, 1], "must not decrease: sample 1 starts at 1"),
     ([2, 2], [-1, 1], "first row of sample 0 is negative: -1"),
     ([2, 2], [0, 3], "sample 1 has 2 rows from row 3, but row_capacity is 4")],
)  # fmt: skip
def test_views_that_are_none(pairs, lengths, base, message):
    refused(message, pairs.plan, view(lengths, base=base))


def test_views_with_starts_and_slack_are_fine(pairs):
    pairs.run(view([1, 0, 1], base=[1, 1, 2]))
    pairs.run(view([2, 2], base=[0, 1]))


# --- Lengths that disagree: sample, numbers, and line ----------------------------------------


def test_batches_of_different_sizes(rng):
    x = unnamed(batch_of(rng, (3, 4, 5), 4))
    f = nested.jit(lambda x, y: x + y)
    with raises(nested.ArgumentError, "has 2 samples", "has 3", line="f(x, x[:2])"):
        f(x, x[:2])


def test_cast_names_the_sample_both_numbers_and_the_reason():
    f = program("""func.func @f(%x: <N>, %y: <M>) -> <N> {
  %z = ragged.cast %y {reason = "x + y"} : <M> to <N>
  %s = ragged.map ins(%x, %z : <N>, <N>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.addf %u, %v : f32
    ragged.yield %r : f32 } -> <N>
  return %s : <N> }""")
    x, y = [np.zeros(3), np.zeros(2)], [np.zeros(3), np.zeros(4)]
    refused(["sample 1", "2", "4", "x + y", "<program>:2"], f.plan, [x, y])


def test_regrouping_needs_all_entries():
    f = program("""func.func @f(%x: <N>, %n: <S; i64>) -> <S> {
  %y = ragged.nest %x, %n : <N>, <S; i64> -> <T; f32; path = [B, S]>
  %s = ragged.reduce sum %y dims [0] : <T; f32; path = [B, S]> -> <; f32; path = [B, S]>
  %u = ragged.unnest %s : <; f32; path = [B, S]> -> <S>
  return %u : <S> }""")
    x = [np.ones(3), np.ones(4)]
    assert f.run([x, [[1, 2], [4]]])[0].values.tolist() == [1, 2, 4]
    refused(["sample 1", "3", "4"], f.run, [x, [[1, 2], [3]]])
    refused(["T is 5 in sample 1, S 0", "from 0 to 4"], f.run, [x, [[1, 2], [5, -1]]])
    refused(["T is -1 in sample 0, S 1", "from 0 to 3"], f.run, [x, [[1, -1], [4]]])


def test_rows_and_columns_are_not_added():
    text = ragged_types("""func.func @f(%p: <N, M>, %q: <M, N>) -> <N, M> {
  %s = ragged.map ins(%p, %q : <N, M>, <M, N>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.addf %u, %v : f32
    ragged.yield %r : f32 } -> <N, M>
  return %s : <N, M> }""")
    status, _, diagnostics, _, _ = _core.compile(text)
    assert status == 1
    for part in ("<program>:2", "[N, M]", "[M, N]", "symbol 'N' is bound here"):
        assert part in diagnostics, diagnostics


# --- Data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [21, -1, 2**40, -(2**63)])
@pytest.mark.parametrize("threads", [1, 2])
def test_index_out_of_range(bad, threads):
    """The first of several is named, whatever the threads do; row 7 of the batch is it."""
    f = program("""func.func @f(%t: <N; i64>, %e: tensor<21x3xf32>) -> <N, 3> {
  %y = ragged.gather %e, %t : tensor<21x3xf32>, <N; i64> -> <N, 3>
  return %y : <N, 3> }""")
    t = [np.zeros(5, int), np.array([0, 20, bad, 3]), np.full(3000, 99)]
    refused(
        [str(bad), "21", "row 7", "<program>:2"], f.run, [t, np.zeros((21, 3))], threads=threads
    )


def test_memory_of_a_gpu():
    class OnGPU:
        def __dlpack__(self, **kwargs):
            raise BufferError("this memory is not for the host")

        def __dlpack_device__(self):
            return (2, 0)

    message = "in memory of device CUDA 0, but programs run on the CPU"
    with raises(nested.ArgumentError, message, line="nested.from_values("):
        nested.from_values(OnGPU(), [1])
    x = nested.from_list([np.zeros((2, 3), "f4")])
    with raises(nested.ArgumentError, message):
        nested.jit(lambda x, w: x @ w)(x, OnGPU())


# --- Artifacts -------------------------------------------------------------------------------


def with_footer(artifact, **fields):
    """The artifact with other numbers in its footer, and the checksum that belongs to them."""
    body, footer = artifact[:-96], bytearray(artifact[-96:])
    for name, value in fields.items():
        struct.pack_into("<I", footer, {"version": 64, "oldest_reader": 68}[name], value)
    return body + bytes(footer)


def test_newer_artifact(artifact):
    assert nested.load(with_footer(artifact, version=2)).entries  # an old reader will do
    with raises(nested.ArtifactError, "newer", line="nested.load("):
        nested.load(with_footer(artifact, version=2, oldest_reader=2))


def test_artifact_of_another_processor():
    foreign = nested.export(lambda x: x + 1, nested.spec("N", 2), target="cpu:aarch64").bytes
    with raises(nested.ArtifactError, "aarch64", "x86_64", line="nested.load("):
        nested.load(foreign)


def test_object_that_is_no_artifact():
    library = (LIBRARIES / "libnested_runtime.so").read_bytes()
    with raises(nested.ArtifactError, "not an artifact", line="nested.load("):
        nested.load(library)


# --- Files -----------------------------------------------------------------------------------


def pipe_contents(path, write):
    """What `write` puts into a pipe, which has to be one afterwards."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write()
        assert path.is_fifo(), "a file was put in the place of a pipe"
        return os.read(reader, 1 << 16)
    finally:
        os.close(reader)


def test_outputs_may_be_pipes_and_devices(tmp_path, artifact):
    (tmp_path / "f.so").write_bytes(artifact)
    arguments = [TOOLS / "nested-run", "f.so", "--lengths", "N=3", "--output"]

    def run(name):
        subprocess.run([*arguments, name], cwd=tmp_path, check=True, capture_output=True)

    run("file.npz")
    whole = (tmp_path / "file.npz").read_bytes()
    assert pipe_contents(tmp_path / "pipe", lambda: run("pipe")) == whole
    exported = nested.export(lambda x: x + 1, nested.spec("N", 2))
    saved = pipe_contents(tmp_path / "second", lambda: exported.save(tmp_path / "second"))
    assert artifact.startswith(saved[:4]) and len(saved) == min(len(exported.bytes), 1 << 16)
    assert sorted(os.listdir(tmp_path)) == ["f.so", "file.npz", "pipe", "second"]
