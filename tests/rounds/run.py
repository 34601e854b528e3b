#!/usr/bin/env python3
"""Runs what tutti writes for MPI and for NCCL on real data: run.py TUTTI [--keep DIR]

Programs of the library and schedules of instances become C++ sources (--to mpi-p2p, --to nccl-p2p), which are
compiled together with mpi_check.cpp and run with five ranks: every element of every output is checked, in place and
out of place, for counts that divide nothing. The NCCL functions run with the stand-ins in stub/, NCCL on MPI. A copy
of a source with one step changed must be found wrong, or the check would check nothing.
Ends with 77 (skipped) where there is no MPI."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RANKS = 5
KINDS = {
    "all_reduce": "AllReduce",
    "all_gather": "AllGather",
    "reduce_scatter": "ReduceScatter",
    "broadcast": "Broadcast",
    "reduce": "Reduce",
    "gather": "Gather",
    "scatter": "Scatter",
    "all_to_all": "AllToAll",
    "all_to_next": "AllToNext",
}
# Algorithm, collective, ranks, more arguments.
PROGRAMS = [
    ("ring", "all_reduce", 4, []),
    ("ring", "all_reduce", 5, ["--mode", "out-of-place"]),
    ("ring", "all_gather", 3, []),
    ("ring", "reduce_scatter", 4, []),
    ("all-pairs", "all_reduce", 4, []),
    ("all-pairs", "reduce_scatter", 3, ["--mode", "out-of-place"]),
    ("halving-doubling", "all_reduce", 4, []),
    ("two-trees", "broadcast", 5, ["--root", "2"]),
    ("two-trees", "reduce", 5, ["--root", "3"]),
    ("binomial-tree", "broadcast", 5, ["--root", "4"]),
    ("direct-all-to-all", "all_to_all", 3, []),
    ("chain-to-next", "all_to_next", 4, []),
]
# A topology, a group, a collective, its ranks. The last two need relays.
SCHEDULES = [
    ({"generate": {"kind": "ring", "npus": 5, "alpha": 3, "beta": 1}}, None, {"kind": "all_reduce", "chunks": 3}, 5),
    ({"generate": {"kind": "mesh", "dims": [2, 2], "alpha": 1, "beta": 1}}, None, {"kind": "all_to_all", "chunks": 2}, 4),
    ({"generate": {"kind": "ring", "npus": 4, "alpha": 8, "beta": 1}}, None, {"kind": "broadcast", "chunks": 7, "root": 1}, 4),
    ({"generate": {"kind": "ring", "npus": 4, "alpha": 1, "beta": 1}}, None, {"kind": "gather", "chunks": 3, "root": 2}, 4),
    ({"generate": {"kind": "ring", "npus": 4, "alpha": 1, "beta": 1}}, None, {"kind": "scatter", "chunks": 2, "root": 1}, 4),
    ({"generate": {"kind": "mesh", "dims": [1, 5], "alpha": 0, "beta": 1}}, [4, 0, 2], {"kind": "all_reduce", "chunks": 2}, 3),
    ({"generate": {"kind": "mesh", "dims": [1, 5], "alpha": 0, "beta": 1}}, [4, 0, 2], {"kind": "all_gather", "chunks": 2}, 3),
]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def made(*command):
    done = run(*command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


class Sources:
    """The sources and the table of their functions."""

    def __init__(self, folder):
        self.folder, self.includes, self.rows = folder, [], []

    def add(self, path, kind, members):
        text = path.read_text()
        name = re.search(r"^// (tutti_\w+):", text).group(1)
        space = re.sub(r"\W", "_", path.stem)
        ranks = int(re.search(r"kRanks = (\d+)", text).group(1))
        root = re.search(r"with root (\d+)", text)
        nccl = "#include <nccl.h>" in text
        text = text.replace(name, f"tutti_{space}")  # extern "C" names are in no namespace
        name = f"tutti_{space}"
        if nccl:
            text = re.sub(r"(\w+<Type, Op>)<<<(.*?)>>>", r"launch(\1, \2)", text, flags=re.S)
        path.write_text(text)
        operand = ("to_nccl(op), " if nccl else "op, ") if f"{'ncclRedOp_t' if nccl else 'MPI_Op'} op" in text else ""
        self.includes.append(f'namespace {space} {{\n#include "{path}"\n}}')
        rest = "to_nccl(type), {}&comm, nullptr, scratch" if nccl else "type, {}comm, scratch"
        call = f"{space}::{name}(in, out, count, {rest.format(operand)})"
        bytes_of = f"{space}::{name}_scratch_bytes(count, {'to_nccl(type)' if nccl else 'type'})"
        self.rows.append(
            f'    {{"{path.stem}",\n     [](const void* in, void* out, std::size_t count, MPI_Datatype type, '
            f"[[maybe_unused]] MPI_Op op, MPI_Comm comm, void* scratch) -> int {{ return {call}; }},\n"
            f"     [](std::size_t count, MPI_Datatype type) {{ return {bytes_of}; }},\n"
            f"     {KINDS[kind]}, {ranks}, {members}, {root.group(1) if root else 0}}},"
        )

    def write(self):
        (self.folder / "sources.inc").write_text("#include <cuda_fp16.h>\n#include <nccl.h>\n" + "\n".join(self.includes))
        (self.folder / "plans.inc").write_text("\n".join(self.rows))


def programs(tutti, sources):
    for algorithm, kind, ranks, more in PROGRAMS:
        for format in ["mpi-p2p", "nccl-p2p"]:
            path = sources.folder / f"{algorithm}_{kind}_{ranks}_{format}.cpp"
            made(tutti, "compile", algorithm, "--ranks", ranks, "--collective", kind, *more, "--to", format, "-o", path)
            sources.add(path, kind, ranks)


def schedules(tutti, sources):
    for number, (topology, group, collective, members) in enumerate(SCHEDULES):
        instance = sources.folder / f"instance{number}.json"
        content = {"tutti": 1, "topology": topology, "collectives": [collective]}
        if group:
            content["groups"] = {"some": group}
            collective["group"] = "some"
        instance.write_text(json.dumps(content))
        schedule = sources.folder / f"instance{number}.schedule.json"
        made(tutti, "synth", instance, "-o", schedule, "--time-limit", 5)
        for format in ["mpi-p2p", "nccl-p2p"]:
            path = sources.folder / f"schedule{number}_{format}.cpp"
            made(tutti, "convert", instance, schedule, "--to", format, "-o", path)
            sources.add(path, collective["kind"], members)


def checked(folder, name):
    program = folder / name
    done = run("mpicxx", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wno-cast-function-type", "-Werror", f"-I{folder}",
               f"-I{HERE / 'stub'}", HERE / "mpi_check.cpp", "-o", program)
    if done.returncode != 0:
        sys.exit(done.stderr[:4000])
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
    return run("mpirun", "--oversubscribe", "-n", RANKS, program, env=environment, timeout=240)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tutti", type=Path)
    parser.add_argument("--keep", type=Path, help="leave the sources there")
    options = parser.parse_args()
    if not shutil.which("mpicxx") or not shutil.which("mpirun"):
        print("no MPI here: skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.keep or scratch).resolve()
        folder.mkdir(exist_ok=True)
        sources = Sources(folder)
        programs(options.tutti.resolve(), sources)
        schedules(options.tutti.resolve(), sources)
        sources.write()
        done = checked(folder, "check")
        print(done.stdout, end="")
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        # The check finds a step that takes the wrong place.
        broken = folder / "ring_all_reduce_4_mpi-p2p.cpp"
        text = broken.read_text()
        changed = re.sub(r"send\((\d+), (\d+), in\(0\), 0, 1\)", r"send(\1, \2, in(1), 0, 1)", text, count=1)
        if changed == text:
            sys.exit("the ring has no step to change")
        broken.write_text(changed)
        sources.includes, sources.rows = [], []
        sources.add(broken, "all_reduce", 4)
        sources.write()
        done = checked(folder, "check_broken")
        if done.returncode == 0 or "wrong elements" not in done.stdout:
            sys.exit("a wrong plan was not found wrong")


if __name__ == "__main__":
    main()
