#!/usr/bin/env python3
"""Plans under MPI: run.py TUTTI

A MPI program that knows nothing of tutti and checks its own data runs with libtutti_mpi.so, whose counters must show
that plans served it, and that the rest fell through; `tutti run --mpi` and `tutti bench --against mpi` find no wrong
element. Ends with 77 (skipped) where there is no MPI."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RANKS = 4
KINDS = {"MPI_Allreduce": ("ring", "all_reduce"), "MPI_Allgather": ("ring", "all_gather"), "MPI_Reduce_scatter_block": ("ring", "reduce_scatter"),
         "MPI_Alltoall": ("direct-all-to-all", "all_to_all"), "MPI_Bcast": ("binomial-tree", "broadcast")}


def run(*command, expected=0, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    if result.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}\nended with {result.returncode}, expected {expected}\n{result.stdout}{result.stderr}")
    return result


def mpirun(ranks, *command, environment=(), expected=0):
    own = {**os.environ, **dict(environment), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    passed = [word for name in dict(environment) for word in ("-x", name)]
    return run("mpirun", "-n", ranks, *passed, *command, env=own, expected=expected)


def tensor_programs(tutti):
    examples = HERE.parent.parent / "examples" / "tensor"
    for name, mesh in (("adam", "data=3"), ("mlp", "tensor=3"), ("pipeline_step", "")):
        for processes in (2, 3):
            words = [examples / f"{name}.json", examples / f"{name}.schedule.json", "--mpi", "--check", "--iterations", 2, "--json"]
            if mesh:
                words += ["--mesh", mesh]
            if name != "pipeline_step":
                words += ["--sizes", "N=1003" if name == "adam" else "B=7"]
            result = json.loads(mpirun(processes, tutti, "run", *words).stdout)
            assert result["verdict"] == "right" and result["processes"] == processes and result["calls"] == 2, result
            assert result["check"]["runs"] == 8 and not result["check"]["difference"], result
    refused = mpirun(3, tutti, "run", examples / "adam.json", "--mesh", "data=2", "--mpi", expected=2)
    assert "its 2 ranks cannot be spread over 3 processes" in refused.stderr, refused.stderr


def main():
    tutti = Path(sys.argv[1]).resolve()
    library = tutti.parent / "libtutti_mpi.so"
    if not shutil.which("mpicxx") or not shutil.which("mpirun") or not library.exists():
        print("skipped: there is no MPI")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        program = work / "collectives"
        run("mpicxx", "-std=c++17", "-O1", HERE / "collectives.cpp", "-o", program)
        plans = work / "plans"
        plans.mkdir()
        for name, (algorithm, collective) in KINDS.items():
            for ranks in (2, RANKS):
                if collective == "broadcast" and ranks == 2:
                    continue
                root = ["--root", 1] if collective == "broadcast" else []
                run(tutti, "compile", algorithm, "--collective", collective, "--ranks", ranks, *root, "-o", plans / f"{collective}-{ranks}.xml")
        (plans / "broken.xml").write_text("<algo>")

        mpirun(RANKS, program)
        served = mpirun(RANKS, program, environment={"LD_PRELOAD": str(library), "TUTTI_MPI_PLANS": str(plans), "TUTTI_MPI_REPORT": "1"}.items())
        assert "0 wrong" in served.stdout, served.stdout
        assert re.search(r"tutti: not used: .*broken\.xml", served.stderr), served.stderr
        for name in KINDS:
            counts = re.search(rf"tutti: {name}: (\d+) calls served by plans, (\d+) by MPI", served.stderr)
            assert counts, served.stderr
            assert int(counts[1]) >= 16, counts[0]
            # Broadcasts of two ranks have no plan, and one has types that plans cannot reach.
            assert (int(counts[2]) > 0) == (name == "MPI_Bcast"), counts[0]
        without = mpirun(RANKS, program, environment={"LD_PRELOAD": str(library), "TUTTI_MPI_REPORT": "1"}.items())
        assert "0 wrong" in without.stdout and "served by plans" not in without.stderr, without.stderr

        table = json.loads(mpirun(2, tutti, "bench", plans / "all_reduce-2.xml", "--against", "mpi", "--bytes", "4K,256K", "--rounds", 1, "--json").stdout)
        assert [row["wrong"] for row in table["rows"]] == [0, 0] and all(row["compared"] > 0 for row in table["rows"]), table
        assert set(table["rows"][0]["variants"]) == {"pieces", "streams", "private"}, table
        for ranks in (2, 3, RANKS):
            for name in ("all_reduce", "all_gather", "all_to_all"):
                table = json.loads(mpirun(ranks, tutti, "run", plans / f"{name}-{RANKS}.xml", "--mpi", "--count", "1,50021", "--dtype", "i32", "--iterations", 2, "--json").stdout)
                assert table["rows"] and all(row["wrong"] == 0 and row["compared"] > 0 for row in table["rows"]), table
        tensor_programs(tutti)
        refused = mpirun(2, tutti, "bench", plans / "all_reduce-4.xml", "--against", "mpi", expected=2)
        assert "the plan is for 4 ranks, but there are 2 processes" in refused.stderr, refused.stderr
    print("all right")


main()
