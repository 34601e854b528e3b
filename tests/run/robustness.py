#!/usr/bin/env python3
"""Plans in several processes when things go wrong: robustness.py TUTTI [--kills N] [--runs N] [--seed S] [--only KINDS]

--kills: N times a run is started (processes with both engines and with private arrays, teams of Python, messages and
benchmarks under mpirun, a MPI program served by plans), and kill -9 hits one of its processes, drawn at random, at a
random time. All others must end by themselves, and no process, memory or file of theirs may be left.
--runs: N runs while twice as many busy loops as cores take the machine: each must end, with no element wrong.

Processes are found by a variable of their environment. What a killed mpirun leaves of its own is not counted."""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MARK = f"TUTTI_ROBUSTNESS_{os.getpid()}"
LONGEST = 90  # seconds until what should end by itself counts as hanging: a team waits a minute for those that have not come yet
TEAM = """
import sys, time
import numpy as np, tutti
rank, size, job = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
plan = tutti.compile("ring", collective="all_reduce", ranks=size, in_place=True)
comm = tutti.shared(job, rank, size)
shared, own = comm.empty(200_003, np.float32), np.empty(100_003, np.float32)
for call in range(int(sys.argv[4])):
    for array in (shared, own):
        array[:] = rank + call
        comm.run(plan, array)
        assert (array == sum(range(size)) + size * call).all(), "wrong"
"""


def environment():
    open_mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return {**os.environ, **open_mpi, MARK: "1"}


def marked():
    """The processes of a run that are there, without those that have ended and wait for their parents."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if MARK.encode() in (folder / "environ").read_bytes() and (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended, or is another user's
    return found


def segments():
    return {name for name in os.listdir("/dev/shm")} if os.path.isdir("/dev/shm") else set()


class Commands:
    """What is run, each for about a second where it is not disturbed."""

    def __init__(self, tutti, work, wait_for_python):
        self.tutti, self.work = tutti, work
        self.number = 0
        self.plan = {}
        for algorithm in ("ring", "all-pairs"):
            for ranks in (2, 4):
                file = work / f"{algorithm}-{ranks}.xml"
                subprocess.run([tutti, "compile", algorithm, "--ranks", str(ranks), "--mode", "in-place", "-o", file, "--quiet"], check=True)
                self.plan[algorithm, ranks] = file
        self.kinds = [self.pieces, self.streams, self.private]
        if wait_for_python:
            self.kinds.append(self.team)
        if shutil.which("mpirun") and shutil.which("mpicxx") and (tutti.parent / "libtutti_mpi.so").exists():
            self.program = work / "collectives"
            source = Path(__file__).parent.parent / "mpi" / "collectives.cpp"
            subprocess.run(["mpicxx", "-std=c++17", "-O1", source, "-o", self.program], check=True)
            self.kinds += [self.messages, self.bench, self.served]

    def run(self, draw, *more):
        plan = self.plan[draw.choice(["ring", "all-pairs"]), draw.choice([2, 4])]
        return [[self.tutti, "run", plan, "--bytes", "4K:1M:16", "--processes", str(draw.choice([2, 3, 4]) if "4" in plan.stem else 2), "--json", "--quiet", *more]]

    def pieces(self, draw):
        return self.run(draw)

    def streams(self, draw):
        return self.run(draw, "--engine", "streams")

    def private(self, draw):
        ranks = draw.choice([2, 4])
        plan = self.plan[draw.choice(["ring", "all-pairs"]), ranks]
        return [[self.tutti, "run", plan, "--bytes", "4K:1M:16", "--processes", str(ranks), "--arrays", "private", "--json", "--quiet"]]

    def team(self, draw):
        self.number += 1
        ranks = draw.choice([2, 3, 4])
        job = f"robustness-{os.getpid()}-{self.number}"
        return [[sys.executable, "-c", TEAM, str(rank), str(ranks), job, "200"] for rank in range(ranks)]

    def messages(self, draw):
        return [["mpirun", "-n", "4", self.tutti, "run", self.plan["ring", 4], "--mpi", "--bytes", "4K:1M:16", "--json", "--quiet"]]

    def bench(self, draw):
        return [["mpirun", "-n", "2", self.tutti, "bench", self.plan["all-pairs", 2], "--bytes", "4K:1M:16", "--rounds", "3", "--json", "--quiet"]]

    def served(self, draw):
        library = self.tutti.parent / "libtutti_mpi.so"
        return [["mpirun", "-n", "4", "-x", f"LD_PRELOAD={library}", "-x", f"TUTTI_MPI_PLANS={self.work}", self.program]]


def started(commands, work):
    return [subprocess.Popen([str(word) for word in command], env=environment(), stdin=subprocess.DEVNULL, stdout=open(work / f"out-{at}", "w"),
                             stderr=open(work / f"err-{at}", "w"), start_new_session=True) for at, command in enumerate(commands)]


def has_ended(processes, within):
    """Whether all of them end, and all that they have started."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if all(process.poll() is not None for process in processes) and not marked():
            return True
        time.sleep(0.01)
    return False


def give_up(what, processes, work):
    left = marked()
    said = "".join((work / f"err-{at}").read_text() for at in range(len(processes)))
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    sys.exit(f"{what}: of it are left {left}\n{said}")


def kill_one(commands, draw, work):
    """Returns the command's name, and whether it was hit before it ended."""
    kind = draw.choice(commands.kinds)
    before = segments()
    processes = started(kind(draw), work)
    wait, begun = draw.expovariate(1 / 0.4), time.monotonic()
    while time.monotonic() < begun + wait and any(process.poll() is None for process in processes):
        time.sleep(0.002)
    victims = marked()
    launchers = {process.pid for process in processes if kind.__name__ in ("messages", "bench", "served")}
    victim = draw.choice(victims) if victims else None
    if victim is not None:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            victim = None
    what = f"{kind.__name__}, kill -9 of {victim} of {victims} after {time.monotonic() - begun:.3f} s"
    if not has_ended(processes, LONGEST):
        give_up(what, processes, work)
    new = segments() - before
    if any("tutti" in name for name in new) or (new and victim not in launchers and not launchers):
        sys.exit(f"{what}: /dev/shm has {sorted(new)}")
    return kind.__name__, victim is not None


def check_kills(commands, count, draw, work):
    hit = collections.Counter()
    tried = 0
    while sum(hit.values()) < count:
        name, was_hit = kill_one(commands, draw, work)
        tried += 1
        if was_hit:
            hit[name] += 1
        elif tried > 4 * count + 20:
            sys.exit("hardly any run was still there when it was to be hit")
    print(f"{sum(hit.values())} kills: no process and no segment left ({', '.join(f'{name} {number}' for name, number in sorted(hit.items()))})", flush=True)


def check_output(name, work, processes):
    for at, process in enumerate(processes):
        said = (work / f"err-{at}").read_text()
        if process.returncode != 0:
            sys.exit(f"{name} ended with {process.returncode}\n{said}")
        output = (work / f"out-{at}").read_text()
        if name == "served":
            assert "0 wrong" in output, output
        elif name != "team":
            rows = json.loads(output)["rows"]
            assert rows and all(row["wrong"] == 0 and row["compared"] > 0 for row in rows), output


def check_runs(commands, count, draw, work):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    longest, ran = 0.0, collections.Counter()
    try:
        for _ in range(count):
            kind = draw.choice(commands.kinds)
            begun = time.monotonic()
            processes = started(kind(draw), work)
            if not has_ended(processes, 2 * LONGEST):
                give_up(f"{kind.__name__} under load hangs", processes, work)
            check_output(kind.__name__, work, processes)
            longest = max(longest, time.monotonic() - begun)
            ran[kind.__name__] += 1
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    print(f"{count} runs beside {len(loops)} busy loops: all ended, 0 wrong, the longest took {longest:.1f} s "
          f"({', '.join(f'{name} {number}' for name, number in sorted(ran.items()))})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutti")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="of pieces, streams, private, team, messages, bench, served")
    options = parser.parse_args()
    tutti = Path(options.tutti).resolve()
    python = subprocess.run([sys.executable, "-c", "import numpy, tutti; tutti.shared"], capture_output=True).returncode == 0
    if not python:
        print("without teams of Python: this Python has no tutti and numpy")
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(tutti, Path(folder), python)
        if options.only:
            commands.kinds = [kind for kind in commands.kinds if kind.__name__ in options.only.split(",")]
        draw = random.Random(options.seed)
        if options.runs:
            check_runs(commands, options.runs, draw, Path(folder))
        if options.kills:
            check_kills(commands, options.kills, draw, Path(folder))


main()
