#!/usr/bin/env python3
"""Kills a running batch (SIGKILL, to the parent alone) at random moments and resumes it, again and again, until it
ends by itself: the rows must be those of a run that nobody killed, none done twice, none lost, no child left behind.
Prints its seed; --seed N repeats a run's choices, --kills N kills N times, --instances PATH takes other instances.
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SAME = ("makespan", "lower_bound", "status", "method", "sends", "digest", "chunks", "failure")


def make_instances(folder):
    """Small ones, a few that fail, and a few that take a while."""
    kinds = ["all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter"]
    for i in range(60):
        instance = {
            "tutti": 1,
            "topology": {"generate": {"kind": "ring", "npus": 4 + i % 9}},
            "collectives": [{"kind": kinds[i % len(kinds)], "chunks": 1 + 3 * (i % 4)}],
        }
        path = folder / f"family{i % 3}" / f"i{i:03}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(instance) if i % 20 != 7 else "{")


def rows(folder):
    """The last line of each key; a line that is not whole is an error unless it is the last."""
    lines = (folder / "results.jsonl").read_text().splitlines()
    found = {}
    for line in lines:
        row = json.loads(line)
        found[row["key"]] = {name: row[name] for name in SAME}
    return found, len(lines)


def children_of(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], stdout=subprocess.PIPE, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def gone(pid):
    """Whether the process has ended, within a while; a zombie has."""
    for _ in range(1000):
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--instances", type=pathlib.Path, help="a folder; small ones are made unless given")
    parser.add_argument("--option", action="append", default=[], help="for tutti batch, such as --option=--method=greedy")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    choose = random.Random(options.seed)
    program = str(options.program.resolve())

    with tempfile.TemporaryDirectory(prefix="tutti-kill-") as name:
        scratch = pathlib.Path(name)
        instances = (options.instances or scratch / "instances").resolve()
        if not options.instances:
            make_instances(instances)
        extra = options.option or ["--method=greedy"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": scratch}
        begin = time.monotonic()
        whole = subprocess.run([program, "batch", str(instances), "-o", "whole", *extra], check=False, **quiet)
        length = time.monotonic() - begin
        expected, _ = rows(scratch / "whole")

        command = [program, "batch", str(instances), "-o", "killed", *extra]
        done = 0
        for kill in range(options.kills):
            process = subprocess.Popen(command, **quiet)
            time.sleep(choose.random() * length / (options.kills + 1) + 0.01)
            children = children_of(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
            left = [pid for pid in children if not gone(pid)]
            if left:
                sys.exit(f"kill {kill}: children live on: {left}")
            if not (scratch / "killed" / "results.jsonl").exists():
                continue
            text = (scratch / "killed" / "results.jsonl").read_text()
            now = text.count("\n")
            print(f"kill {kill}: {now} of {len(expected)} lines" + (" and a half" if text and not text.endswith("\n") else ""))
            if now < done:
                sys.exit(f"kill {kill}: lines were lost: {done} before, {now} now")
            done = now
            if (scratch / "killed" / "run.json").exists():
                command = [program, "batch", "--resume", "-o", "killed"]
        end = subprocess.run(command, check=False, **quiet)
        found, lines = rows(scratch / "killed")
        if found != expected:
            different = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
            sys.exit(f"{len(different)} rows differ, such as {different[0]}: "
                     f"{found.get(different[0])} instead of {expected.get(different[0])}")
        if lines != len(expected):
            sys.exit(f"{lines} lines for {len(expected)} tasks: something was done twice")
        if end.returncode != whole.returncode:
            sys.exit(f"exit code {end.returncode} instead of {whole.returncode}")
    print(f"{len(expected)} rows, the same after {options.kills} kills")


if __name__ == "__main__":
    main()
