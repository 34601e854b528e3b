#!/usr/bin/env python3
"""CUDA programs (convert --to cuda) compiled by nvcc with NVIDIA's own headers, for a GPU: compile.py TUTTI [--all]

nvcc is what TUTTI_NVCC names, or the one on the PATH; the packages nvidia-cuda-nvcc, nvidia-cuda-runtime, nvidia-cuda-cccl, nvidia-cublas and nvidia-nccl-cu13 have all that is needed: their
headers are looked for beside nvcc, in TUTTI_NVIDIA (a folder with cu13/ and nccl/) and where the compiler looks anyway. --all: all examples, as written, by their schedules, and by tuned ones of several kinds; every fourth
with TUTTI_F64.
A source with a wrong argument must be refused, or the check would check nothing. Ends with 77 (skipped) where nvcc or a header is absent."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
EXAMPLES = ROOT / "examples/tensor"


def includes(nvcc: Path) -> list[Path]:
    places = [nvcc.resolve().parent.parent / "include", nvcc.resolve().parent.parent.parent / "nccl/include"]
    if os.environ.get("TUTTI_NVIDIA"):
        given = Path(os.environ["TUTTI_NVIDIA"])
        places += [given / "cu13/include", given / "nccl/include"]
    return [place for place in places + [place / "cccl" for place in places] if place.is_dir()]


def errors(nvcc: Path, source: Path, folder: Path, *flags: str) -> str:
    command = [nvcc, "-std=c++20", "-arch=sm_80", "-Wno-deprecated-gpu-targets", *flags, f"-I{ROOT / 'src'}", *(f"-I{place}" for place in includes(nvcc)), "-c", source, "-o", folder / "step.o"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode != 0 or done.stderr else ""


def tuned(tutti: str, program: Path, folder: Path) -> list[Path]:
    """Schedules of several kinds: the best, and the best that overlap, fuse and split in other ways."""
    clusters = EXAMPLES / "clusters"
    words = subprocess.run([tutti, "tune", program, "--topology", clusters / "dgx1.json", "--device", clusters / "v100-device.json", "--top", "1000", "--time-limit", "5", "--json", "-q"], capture_output=True, text=True)
    if words.returncode != 0:
        print(f"{program.name}: not tuned: {words.stderr.strip()}", flush=True)
        return []
    schedules, seen = [], set()
    for number, one in enumerate(json.loads(words.stdout)["schedules"]):
        kind = tuple(sorted({step["do"] + str(len(step.get("kernels", step.get("chain", [])))) for step in one["steps"]}))
        if kind in seen or len(schedules) == 4:
            continue
        seen.add(kind)
        schedules.append(folder / f"tuned{number}.json")
        schedules[-1].write_text(json.dumps({"tutti_tensor_schedule": 1, "program": program.stem, "steps": one["steps"]}))
    return schedules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    found = os.environ.get("TUTTI_NVCC") or shutil.which("nvcc")
    if not found or not Path(found).exists():
        print("skipped: no nvcc (TUTTI_NVCC names it)")
        return 77
    nvcc, count = Path(found), 0
    with tempfile.TemporaryDirectory(prefix="tutti-cuda-") as name:
        folder = Path(name)
        probe = folder / "probe.cu"
        probe.write_text("#include <cublas_v2.h>\n#include <cuda_bf16.h>\n#include <nccl.h>\n")
        if errors(nvcc, probe, folder):
            print(f"skipped: {nvcc} does not find the headers of CUDA, cuBLAS and NCCL")
            return 77
        source = folder / "step.cu"
        programs = sorted(path for path in EXAMPLES.glob("*.json") if not path.name.endswith(".schedule.json") and options.only in path.name)
        for program in programs if options.all else [EXAMPLES / "matmul_block.json"]:
            given = program.with_suffix(".schedule.json")
            for schedule in [None, given, *tuned(options.tutti, program, folder)] if options.all else [given]:
                subprocess.run([options.tutti, "convert", program, *([schedule] if schedule else []), "--to", "cuda", "-q", "-o", source], check=True)
                said = errors(nvcc, source, folder, *(["-DTUTTI_F64"] if count % 4 == 3 else []))
                count += 1
                if said:
                    print(f"{program.name}, {schedule and schedule.name}: {said[:3000]}")
                    return 1
        source.write_text(source.read_text().replace("rank.begin();", "rank.begin(nullptr);"))
        if "error" not in errors(nvcc, source, folder):
            print("a wrong call was not refused")
            return 1
    print(f"{count} programs compile with {nvcc}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
