#!/usr/bin/env python3
"""CUDA programs (convert --to cuda) without a GPU: compiled for this machine's processor with the headers of tests/emit/cuda/shim instead of NVIDIA's, run as one process for
each rank, and compared with the reference numbers in f64 within 1e-9; with both orders in which the two streams can go on. Programs and numbers are those of tests/emit/cpp.

    python3 tests/emit/cuda/run.py build/release/tutti [--include src] [--compiler g++] [--all] [--only adam] [--sanitize] [--cases FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
spec = importlib.util.spec_from_file_location("cpp_programs", HERE.parent / "cpp/run.py")
cpp = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cpp)

CHOSEN = {("adam", "fuse(RS-C-AG)"), ("matmul_block", None)}


def run(options, command: list, folder: Path, ranks: int, order: int, calls: int) -> str:
    """One process for each rank; what is wrong, or nothing."""
    environment = os.environ | {"WORLD_SIZE": str(ranks), "TMPDIR": str(folder), "TUTTI_NCCL_ID": str(folder / f"id{order}"), "TUTTI_STREAM_ORDER": str(order), "ASAN_OPTIONS": "detect_leaks=0"}
    started = [subprocess.Popen([*command, str(calls)], env=environment | {"RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
    try:
        said = [process.communicate(timeout=options.seconds) for process in started]
    except subprocess.TimeoutExpired:
        return f"not over in {options.seconds} s"
    finally:
        for process in started:
            process.kill()
    if "median of" not in said[0][0]:
        return f"no times are printed: {said[0][0]}"
    return next((words[1][-3000:] for words, process in zip(said, started) if process.returncode != 0), "")


def flags(options) -> list[str]:
    checks = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if options.sanitize else ["-O0"]
    return ["-std=c++20", *checks, *cpp.numbers_flag(options), "-DTUTTI_THREADS=4", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-pthread", f"-I{HERE / 'shim'}"]


def wrong(options, folder: Path, includes: list[str], program, steps, numbers) -> str:
    files = cpp.written(folder, program, steps)
    words = cpp.converted(options, folder, files, "cu")
    if words:
        return words
    done = subprocess.run([options.compiler, "-x", "c++", *flags(options), *includes, folder / "step.cu", "-o", folder / "step"], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        return done.stderr[:3000]
    cpp.write_inputs(folder, numbers)
    return in_both_orders(options, [folder / "step", folder], folder, program, numbers)


def in_both_orders(options, command: list, folder: Path, program, numbers, layouts=()) -> str:
    ranks = math.prod(size for _, size in program["mesh"]["axes"])
    for order, calls in ((0, 1), (1, 2)):
        words = run(options, command, folder, ranks, order, calls) or cpp.difference(folder, json.loads((folder / "step.program").read_text()), numbers, layouts, cpp.tolerance(options, program))
        if words:
            return f"streams in order {order}: {words}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--include", default=str(ROOT / "src"))
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--cases")
    parser.add_argument("--declared", action="store_true", help="in the types that programs have, within 1e-3")
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()

    def results(includes):
        for name, program, steps, numbers in cpp.cases(options.all, options.only, CHOSEN):
            with tempfile.TemporaryDirectory() as folder:
                yield name, wrong(options, Path(folder), includes, program, steps, numbers)

    def ran(command: list, folder: Path, case) -> str:
        return in_both_orders(options, command, folder, case["program"], case["numbers"], case["layouts"])
    with tempfile.TemporaryDirectory() as once:
        includes = cpp.compiled_once(options, Path(once), ["gpu_program.hpp", "gpu_streams.hpp", "gpu_einsum.hpp", "gpu_arrays.hpp", "rank_program.hpp"], flags(options))
        compiler = [options.compiler, "-x", "c++", *flags(options)]
        given = cpp.wrong_of_given(options, "cu", compiler, includes, ran) if options.cases else []
        return cpp.report(itertools.chain(results(includes), given))


if __name__ == "__main__":
    sys.exit(main())
