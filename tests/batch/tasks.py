#!/usr/bin/env python3
"""The tasks of `tutti batch --list-tasks`, run by xargs, end with the rows of one run.

The list is run twice at a time, shuffled, by two xargs in another working directory, while tasks are killed (kill -9) at random.
A run that goes on with the folder, and a command that lists what is missing, are started and killed meanwhile; so is, before, the
command that lists all. The names are difficult for a shell, for xargs or for a file system. Nothing may be written but the results
folder.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

VARYING = ("seconds", "candidates", "peak_memory_bytes", "finished", "host")
NAMES = ["plain", "a b", "it's", 'quo"te', "$(touch pwned)", "`touch pwned`", "-rf", "a seed=2", "{}", "back\\slash", "=cmd()",
         "new\nline", "\x1b[31mred", "..", "é", "#x", "~", "%s", "*", "a;touch pwned", "&", "a\\", "\t"]


def make_instances(folder):
    for i, name in enumerate(NAMES):
        instance = {
            "tutti": 1, "name": f"../../{name}",
            "topology": {"generate": {"kind": "ring", "npus": 4 + i % 5}},
            "collectives": [{"kind": ["all_gather", "all_reduce", "all_to_all"][i % 3], "chunks": 1 + i % 3}],
        }
        path = folder / f"family {i % 2}" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(instance) if i % 10 != 7 else "{")


def rows(folder):
    """The last line of each key, without what differs between two runs; the number of lines."""
    found, lines = {}, (folder / "results.jsonl").read_text().splitlines()
    for line in lines:
        row = {name: value for name, value in json.loads(line).items() if name not in VARYING}
        if row["schedule"]:
            row["schedule"] = row["schedule"].split("/", 1)[1]
        found[row["key"]] = row
    return found, len(lines)


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def tasks_in(folder):
    """Processes that run a task of a results folder below this one."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], stdout=subprocess.PIPE, text=True, errors="replace", check=True).stdout
    return [int(line.split(None, 1)[0]) for line in listed.splitlines() if "--task" in line and str(folder) in line]


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    choose = random.Random(options.seed)
    program = str(options.program.resolve())
    with tempfile.TemporaryDirectory(prefix="tutti-tasks-") as name:
        scratch = pathlib.Path(name)
        make_instances(scratch / "in st")
        (scratch / "elsewhere").mkdir()
        asked = ["in st", "--seeds", "1,2", "--method", "greedy"]

        def tutti(*arguments, **more):
            return subprocess.run([program, "batch", *arguments], cwd=scratch, stderr=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, text=True, check=False, **more)

        def started_and_killed(*arguments):
            process = subprocess.Popen([program, "batch", *arguments], cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(choose.random() * 0.1)
            end(process.pid)
            process.wait()

        whole = tutti(*asked, "-o", "whole", "--no-report")
        expected, _ = rows(scratch / "whole")
        for _ in range(4):
            started_and_killed(*asked, "-o", "kil led", "--list-tasks")
        commands = tutti(*asked, "-o", "kil led", "--list-tasks").stdout.splitlines()
        if len(commands) != len(expected):
            sys.exit(f"{len(commands)} commands for {len(expected)} tasks")
        before = files(scratch)

        xargs = []
        for _ in range(2):
            choose.shuffle(commands)
            runner = subprocess.Popen(["xargs", "-d", "\\n", "-P", "2", "-I{}", "sh", "-c", "{} || true"], stdin=subprocess.PIPE,
                                      text=True, cwd=scratch / "elsewhere", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            threading.Thread(target=lambda pipe=runner.stdin, text="\n".join(commands) + "\n": (pipe.write(text), pipe.close())).start()
            xargs.append(runner)
        kills, looks = 0, 0
        while any(runner.poll() is None for runner in xargs):
            time.sleep(choose.random() * 0.01)
            running = tasks_in(scratch)
            if running and kills < options.kills:
                end(choose.choice(running))
                kills += 1
            looks += 1
            if looks == 3:
                started_and_killed("--resume", "-o", "kil led", "--no-report")
                started_and_killed("--resume", "-o", "kil led", "--list-tasks")
        if kills == 0:
            sys.exit("no task was met at work, so none was killed")
        while tasks_in(scratch):  # whose shell was killed
            time.sleep(0.02)
        last = tutti("--resume", "-o", "kil led", "--no-report")
        found, lines = rows(scratch / "kil led")
        if found != expected:
            different = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
            sys.exit(f"{len(different)} rows differ, such as {different[0]!r}: "
                     f"{found.get(different[0])} instead of {expected.get(different[0])}")
        if lines != len(expected):
            sys.exit(f"{lines} lines for {len(expected)} tasks: something counts twice")
        if last.returncode != whole.returncode:
            sys.exit(f"exit code {last.returncode} instead of {whole.returncode}")
        elsewhere = [path for path in files(scratch) - before if not path.startswith("kil led/")]
        if elsewhere:
            sys.exit(f"written outside the results folder: {elsewhere}")
        half = [path for path in files(scratch / "kil led") if path.endswith(".tmp")]
        if half:
            sys.exit(f"half a file was left: {half}")
    print(f"{len(expected)} rows, the same after {kills} kills")


if __name__ == "__main__":
    main()
