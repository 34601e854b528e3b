#!/usr/bin/env python3
"""Compiles what tutti writes for NCCL against NVIDIA's own headers, for the host and for a GPU: nccl.py TUTTI

The headers are those of the packages nvidia-nccl-cu12, nvidia-cuda-runtime-cu12, nvidia-cuda-nvcc-cu12 and nvidia-cuda-cccl-cu12, of
this Python or below the folder that TUTTI_NVIDIA names (as `pip download` and unzip leave them: FOLDER/nvidia/nccl/include/nccl.h ...).
The compiler is clang, which needs no more of CUDA than that. A source with a wrong argument must be refused, or the check would check nothing.
Ends with 77 (skipped) where the headers or clang are absent."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from run import PROGRAMS, made

CLANG = next(filter(None, map(shutil.which, ["clang++-16", "clang++"])), None)


def packages():
    """Folders that hold `nccl`, `cuda_runtime`, ..."""
    given = os.environ.get("TUTTI_NVIDIA")
    if given:
        return [Path(given) / "nvidia"]
    spec = importlib.util.find_spec("nvidia")
    return [Path(place) for place in spec.submodule_search_locations or []] if spec else []


def toolkit(folder):
    """The packages put together as clang looks for them; None where one is missing."""
    include = folder / "include"
    include.mkdir()
    for name in ["cuda_runtime", "cuda_nvcc", "cuda_cccl", "nccl"]:
        here = next((place / name for place in packages() if (place / name / "include").is_dir()), None)
        if here is None:
            return None
        for entry in (here / "include").iterdir():
            if not (include / entry.name).exists():
                (include / entry.name).symlink_to(entry)
        for part in ["bin", "nvvm"]:
            if (here / part).is_dir() and not (folder / part).exists():
                (folder / part).symlink_to(here / part)
    (include / "curand_mtgp32_kernel.h").touch()  # clang includes it, and no program here draws random numbers
    return folder


def errors(source, cuda):
    command = [CLANG, "-x", "cuda", "--cuda-gpu-arch=sm_80", f"--cuda-path={cuda}", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unknown-cuda-version"]
    return "".join(subprocess.run([*command, side, source], capture_output=True, text=True).stderr for side in ["--cuda-host-only", "--cuda-device-only"])


def main():
    with tempfile.TemporaryDirectory(prefix="tutti-nccl-") as name:
        folder = Path(name)
        (folder / "cuda").mkdir()
        cuda = toolkit(folder / "cuda") if CLANG else None
        if cuda is None:
            print("skipped: no clang, or none of NVIDIA's headers (TUTTI_NVIDIA names their folder)")
            return 77
        source = folder / "plan.cu"
        for algorithm, kind, ranks, more in PROGRAMS:
            made(sys.argv[1], "compile", algorithm, "--ranks", ranks, "--collective", kind, *more, "--to", "nccl-p2p", "-o", source)
            said = errors(source, cuda)
            if said:
                print(f"{algorithm} {kind}: {said}")
                return 1
        wrong = re.sub(r"ncclSend\(", "ncclSend(nullptr, ", source.read_text(), count=1)
        source.write_text(wrong)
        if "error:" not in errors(source, cuda):
            print("a wrong call was not refused")
            return 1
        print(f"{len(PROGRAMS)} sources compile with {CLANG} and NVIDIA's headers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
