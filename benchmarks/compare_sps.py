# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The single-pair-single block beside PyTorch programs; run by `benchmarks/compare sps`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare_common as common  # noqa: E402
import measure  # noqa: E402

OURS = ("ours", "ours_singles")
HAND_HOISTED = "hoisted"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--mode", nargs="+", choices=["fwd", "train"], default=["fwd", "train"])
    options = parser.parse_args()
    options.allocator = "keep"
    bench = options.bench.resolve()
    environment = dict(os.environ, NESTED_BUILD_DIR=str(options.build_dir.resolve()),
                       NESTED_BENCH_DIR=str(bench))  # fmt: skip
    extra = HERE / "method_nested.py"
    print("\n" + measure.describe(measure.machine()) + f"; {options.threads} threads", flush=True)
    found = subprocess.run([sys.executable, str(extra), "--check"], env=environment, text=True,
                           capture_output=True)  # fmt: skip
    print((found.stdout or found.stderr).strip().splitlines()[-1], flush=True)
    if found.returncode:
        return found.returncode
    with tempfile.TemporaryDirectory(prefix="nested-compare-") as work:
        results = Path(work) / "results.jsonl"
        regimes = ["high_variation"] if options.quick else ["near_uniform", "high_variation", "extreme",
                                                            "proteins"]  # fmt: skip
        layouts = ["square"] if options.quick else ["square", "rectangular", "non_leading"]
        command = [sys.executable, "harness.py", "run", "--workload", "sps", "--layout", *layouts,
                   "--mode", *options.mode, "--variant", "eager", "--regime", *regimes, "--extra", str(extra),
                   "--threads", str(options.threads), "--repeats", "2" if options.quick else "7",
                   "--results", str(results), "--log", str(Path(work) / "log")]  # fmt: skip
        methods = ["packed", "padded", "loop", "hoisted"]
        command += ["--method", *OURS, *methods]
        subprocess.run(command, cwd=bench, env=environment, check=True, stdout=subprocess.DEVNULL)
        records = [json.loads(line) for line in results.read_text().splitlines()]
    show(records, common.Rows(options, "sps"))
    return 0


def show(records, rows):
    """One line per layout, mode and regime: medians, and ratios of the peers to ours."""
    groups = {}
    for r in records:
        groups.setdefault((r["layout"], r["mode"], r["regime"]), {})[r["method"]] = r
    lines = []
    for (layout, mode, regime), members in groups.items():
        timed = {name: r for name, r in members.items() if "median_ms" in r}
        peers = {n: r["median_ms"] for n, r in timed.items() if n not in (*OURS, HAND_HOISTED)}
        best = min(peers.values(), default=float("nan"))
        for name, r in timed.items():
            rows.add(layout=layout, mode=mode, regime=regime, method=name, ms=r["median_ms"],
                     peak_mb=r["peak_mb"], ratio_best_peer=best / r["median_ms"],
                     gflops=r["gflops"])  # fmt: skip
        missing = {n: r.get("error", "no result") for n, r in members.items() if n not in timed}
        if mode == "train":
            missing.pop("ours_singles", None)  # Forward only.
        for name, why in missing.items():
            print(f"{layout}, {mode}, {regime}, {name}: {why}")
        if "ours" not in timed:
            continue
        ours = timed["ours"]["median_ms"]
        hand = timed.get(HAND_HOISTED, {}).get("median_ms", float("nan"))
        singles = timed.get("ours_singles", {}).get("median_ms", float("nan"))
        lines.append([
            layout, mode, regime, f"{ours:.1f}", f"{best / ours:.2f}", f"{hand / ours:.2f}",
            f"{singles:.1f}", f"{best / singles:.2f}", f"{timed['ours']['peak_mb']:.0f}",
            f"{min((r['peak_mb'] for n, r in timed.items() if n not in OURS), default=0):.0f}",
        ])  # fmt: skip
    print()
    common.table(["layout", "mode", "regime", "ours ms", "best of padded, packed, loop / ours",
                  "hoisted by hand / ours", "singles only, ms", "best / singles only",
                  "ours, peak MB", "leanest other, peak MB"], lines)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
