#!/usr/bin/env python3
"""How fast chunk programs become plans: tracing in Python, compiling, verifying; beside msccl-tools where its folder is given.

Prints a Markdown table. Both run the same programs (chunk_programs.py) in the same Python, in a process for each, on one core, one after the other; times are
processor seconds, the least of five runs where a run is short. Of msccl-tools what counts is `MSCCLProgram.lower`, without tracing and without writing XML; of
tutti the command on a trace file (compiling, verifying; with --check-only nothing is written) beyond what it takes to read and check the trace. Memory is measured where there is GNU time.

usage: lang.py TUTTI [--msccl-tools DIR] [--only TEXT]
"""

import argparse
import datetime
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import MagicMock

HERE = Path(__file__).resolve().parent
ROWS = ["ring 64", "ring 128", "halving-doubling 32", "all-to-all 64", "all-to-all 128", "all-to-all 256", "hierarchical 8 8", "all-pairs 16"]
ALONE = ["all-pairs 24", "all-pairs 32"]  # not by msccl-tools, which takes 50 s and some minutes
SHORT = 1  # second, below which a run is made five times
MEASURABLE_BYTES = 2**20  # what a process takes more or less by chance


def child(which, folder, row):
    """In a process of its own: traces one program, with msccl-tools also lowers it, and prints what that took."""
    sys.path.insert(0, folder)
    if which == "tutti":
        from tutti import msccl
        msccl.stand_in()
    else:
        # What it imports for other things than lowering may be absent.
        for name in ("z3", "igraph", "lxml", "humanfriendly", "tabulate", "argcomplete"):
            if importlib.util.find_spec(name) is None:
                sys.modules[name] = MagicMock(__all__=[])
    sys.path.insert(0, str(HERE))
    from chunk_programs import PROGRAMS
    name, *sizes = row.split()
    program, write = PROGRAMS[name](*map(int, sizes))
    started = time.process_time()
    with program:
        write()
    found = {"trace": time.process_time() - started}
    if which == "tutti":
        found["verbs"] = len(list(program.verbs()))
    else:
        started = time.process_time()
        lowered = program.lower()
        found["lower"] = time.process_time() - started
        blocks = [block for gpu in lowered.gpus for block in gpu.threadblocks]
        found["steps"] = sum(len(block.ops) for block in blocks)
        found["blocks"] = len(blocks)
        found["channels"] = 1 + max(block.channel for block in blocks)
    print(json.dumps(found))


def output_of(command, **options):
    """What it prints, and its processor seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with exit code {process.returncode}")
    return said, usage.ru_utime + usage.ru_stime


def least(measure, seconds):
    """The run that took least of one that is long, or five."""
    best = measure()
    if seconds(best) < SHORT:
        best = min([best] + [measure() for _ in range(4)], key=seconds)
    return best


def measured(which, folder, row):
    command = [sys.executable, str(Path(__file__).resolve()), "--child", which, folder, row]
    return least(lambda: json.loads(output_of(command)[0]), lambda found: found["trace"] + found.get("lower", 0))


def compiled(tutti, row, folder):
    """Of `tutti compile`: seconds, steps; instructions, and bytes for each of them."""
    trace, small = f"{folder}/program.chunks", f"{folder}/small.chunks"
    environment = {**os.environ, "TUTTI_PYTHON": sys.executable}
    for path, words in ((trace, row.split()), (small, ["ring", "2"])):
        subprocess.run([tutti, "compile", str(HERE / "chunk_programs.py"), "-o", path, "--quiet", "--", *words], check=True, env=environment)

    def run(*options):
        said, seconds = output_of([tutti, "compile", trace, "--check-only", "--json", *options])
        return {**json.loads(said)["plans"][0], "seconds": seconds}

    def peak(path):
        # Where memory lies decides which pages of libraries come in, some hundred KB: it lies alike each time, where setarch can do that; else the least of
        # several counts. The kernel counts what a process was before exec; GNU time is small.
        fixed = [setarch, "--addr-no-randomize"] if (setarch := shutil.which("setarch")) else []
        peaks = []
        for _ in range(2 if fixed else 7):
            subprocess.run(["/usr/bin/time", "-f", "%M", "-o", f"{folder}/peak", *fixed, tutti, "compile", path, "--check-only", "--quiet"], check=True)
            peaks.append(1024 * int(Path(f"{folder}/peak").read_text()))
        return min(peaks)
    found = least(run, lambda plan: plan["seconds"])
    found["work"] = found["seconds"] - least(lambda: run("--to", "trace"), lambda plan: plan["seconds"])["seconds"]
    lines = [line.split() for line in Path(trace).read_text().splitlines()[2:]]
    found["instructions"] = sum(1 if words[1] == words[4] else 2 for words in lines)
    measurable = Path("/usr/bin/time").exists()
    found["constant"] = peak(small) if measurable else 0
    more = peak(trace) - found["constant"] if measurable else 0
    found["bytes"] = f"{more / found['instructions']:.0f}" if more > MEASURABLE_BYTES else "-"
    return found


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), "unknown processor")


def short(seconds):
    return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}"


def main():
    parser = argparse.ArgumentParser(usage="scripts/bench lang [--msccl-tools DIR] [--only TEXT]")
    parser.add_argument("tutti")
    parser.add_argument("--msccl-tools", metavar="DIR")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    version = subprocess.run([options.tutti, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    beside = " --msccl-tools DIR" if options.msccl_tools else ""
    print(f"# Chunk programs: how fast they become plans\n\n`scripts/bench lang{beside}`, {datetime.date.today()}: {version}, Python {sys.version.split()[0]}.\n"
          f"{processor()}, {os.cpu_count()} cores; on one core, load {os.getloadavg()[0]:.1f} before it began.\n")
    print("Python s: tracing the program, processor seconds, and microseconds per verb. tutti s: processor seconds of `tutti compile` on the trace file, all of it; work s: beyond what `--to trace` takes, so\n"
          "compiling and verifying, as nothing is written; trace, compile, verify: what the command says of its parts, which is wall-clock time of that run. bytes: peak memory of the command beyond that of a ring of 2, per instruction (two for a verb between ranks, one within\n"
          "a rank)" + ("; lower s: `MSCCLProgram.lower` of msccl-tools, processor seconds; ratio: lower s over work s.\n" if beside else ".\n"))
    titles = ["program", "verbs", "Python s", "us/verb", "tutti s", "work s", "trace s", "compile s", "verify s", "steps", "blocks", "channels", "verdict", "bytes"]
    if beside:
        titles += ["msccl-tools trace s", "lower s", "steps", "blocks", "channels", "ratio"]
    print("| " + " | ".join(titles) + " |\n|" + " --- |" * len(titles), flush=True)
    constant = 0
    for row in ROWS + ALONE:
        if options.only not in row:
            continue
        print(row, file=sys.stderr)
        ours = measured("tutti", str(HERE.parent.parent / "python"), row)
        with tempfile.TemporaryDirectory() as folder:
            plan = compiled(options.tutti, row, folder)
        cells = [row, ours["verbs"], short(ours["trace"]), f"{ours['trace'] / ours['verbs'] * 1e6:.2f}", short(plan["seconds"]), short(plan["work"]), short(plan["trace_seconds"]), short(plan["compile_seconds"]),
                 short(plan["verify_seconds"]), plan["steps"], plan["thread_blocks"], plan["channels"], plan["verdict"], plan["bytes"]]
        if beside and row in ALONE:
            cells += ["-"] * 6
        elif beside:
            theirs = measured("msccl", options.msccl_tools, row)
            cells += [short(theirs["trace"]), short(theirs["lower"]), theirs["steps"], theirs["blocks"], theirs["channels"], f"{theirs['lower'] / plan['work']:.0f}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        constant = plan["constant"]
    if constant > 0:
        print(f"\nThe ring of 2 takes {constant / 2**20:.1f} MiB: the process and its libraries.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
