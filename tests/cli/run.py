#!/usr/bin/env python3
"""Runs the cases of the command line: every folder below tests/cli that holds a file `args`.

Each line of `args` is a call of tutti, or after "! " a line for the shell; all run in one scratch folder with a
copy of tests/cli/files. What they print and return is compared, after what changes from run to run is masked:
  stdin    goes to the first line
  stdout   of all lines together          stderr   likewise; without this file it may be anything
  exit     a code per line                keys     fields that every line of stdout must have as a JSON object
  left     the files left behind (tests/cli/files aside)
  needs    solvers without which the case is passed over
A file that is not there is not compared. --update writes what a case has (all but keys and left, if it is new).
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 120

MASKS = [
    (re.compile(r'("(?:[a-z_]+_)?seconds": ?)[-+.e0-9]+'), r"\g<1>0"),
    (re.compile(r'("peak_memory_bytes": ?)\d+'), r"\g<1>0"),
    (re.compile(r'("finished": ?)"[-0-9T:]+Z"'), r'\g<1>"WHEN"'),
    (re.compile(r'("host": ?)"[^"]*"'), r'\g<1>"HOST"'),
    (re.compile(r"\b\d+\.\d{3}\b"), "#.###"),
    (re.compile(r"\btutti \d+\.\d+\.\d+"), "tutti VERSION"),
    (re.compile(r"\b20\d{6}-\d{6}\b"), "TIME"),
]


def masked(text, scratch):
    text = text.replace(str(scratch), "SCRATCH").replace(str(HERE.parent), "TESTS")
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


def call(line, program, scratch, stdin):
    """stdout, stderr and exit code of one line of `args`."""
    command = ["bash", "-c", line[2:]] if line.startswith("! ") else [str(program), *shlex.split(line)]
    environment = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(scratch),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        "TESTS": str(HERE.parent),
    }
    for name, value in os.environ.items():
        if name.startswith(("ASAN_", "UBSAN_", "LSAN_")):
            environment[name] = value
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=scratch, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        out, err = process.communicate(stdin, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        err += f"killed after {TIME_LIMIT} s\n".encode()
    return out.decode(errors="replace"), err.decode(errors="replace"), process.returncode


def missing_keys(stdout, keys):
    complaints = []
    for line in stdout.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            return [f"not a line of JSON: {line}"]
        complaints += [f"no '{key}' in {line}" for key in keys if key not in found]
    return complaints if stdout else ["stdout is empty"]


def run_case(case, program, update):
    """What differs, as lines; empty if the case passes."""
    with tempfile.TemporaryDirectory(prefix="tutti-cli-") as folder:
        scratch = pathlib.Path(folder).resolve()
        shutil.copytree(HERE / "files", scratch, dirs_exist_ok=True)
        before = set(scratch.rglob("*"))
        stdin = (case / "stdin").read_bytes() if (case / "stdin").exists() else b""
        results = []
        for line in (case / "args").read_text().splitlines():
            results.append(call(line, program, scratch, stdin))
            stdin = b""
        left = sorted(str(p.relative_to(scratch)) for p in set(scratch.rglob("*")) - before if p.is_file())
        found = {
            "stdout": masked("".join(r[0] for r in results), scratch),
            "stderr": masked("".join(r[1] for r in results), scratch),
            "exit": "".join(f"{r[2]}\n" for r in results),
            "left": masked("".join(f"{name}\n" for name in left), scratch),
        }
    is_new = not (case / "exit").exists()
    complaints = []
    for name, text in found.items():
        file = case / name
        if update and (file.exists() or (is_new and name != "left")):
            file.write_text(text)
        if not file.exists():
            continue
        expected = file.read_text()
        if text != expected:
            complaints += difflib.unified_diff(
                expected.splitlines(), text.splitlines(), f"{name} expected", f"{name} found", lineterm=""
            )
    if not (case / "exit").exists():
        complaints.append("there is no file 'exit'")
    if (case / "keys").exists():
        complaints += missing_keys(results[-1][0], (case / "keys").read_text().split())
    return complaints


def solvers_of(program):
    """The solvers that the program can use."""
    doctor = subprocess.run([str(program), "doctor", "--json", "--quiet"], stdout=subprocess.PIPE, check=False)
    return {row["name"] for row in json.loads(doctor.stdout)["backends"] if row.get("works")}


def main():
    parser = argparse.ArgumentParser(description="Runs the cases of the command line.")
    parser.add_argument("program", type=pathlib.Path, help="the tutti to be tested")
    parser.add_argument("cases", nargs="*", help="names of cases (default: all)")
    parser.add_argument("--update", action="store_true", help="write what is found as what is expected")
    options = parser.parse_intermixed_args()
    program = options.program.resolve()
    cases = sorted(p.parent for p in HERE.glob("*/args"))
    if options.cases:
        cases = [case for case in cases if case.name in options.cases]
    solvers = solvers_of(program)
    needs = {case: set((case / "needs").read_text().split()) if (case / "needs").exists() else set() for case in cases}
    passed_over = [case for case in cases if not needs[case] <= solvers]
    cases = [case for case in cases if case not in passed_over]
    if not cases:
        sys.exit("there are no such cases")

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda case: run_case(case, program, options.update), cases))
    failed = 0
    for case, complaints in zip(cases, outcomes):
        if complaints:
            failed += 1
            print(f"FAILED {case.name}: {(case / 'args').read_text().strip()}")
            print("\n".join(f"    {line}" for line in complaints))
    print(f"{len(cases)} cases, {failed} failed" + (f", {len(passed_over)} need other solvers" if passed_over else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
