#!/usr/bin/env python3
"""Installs a build folder, moves the installed tree, and uses it there without any environment: the command, and a
program of twenty lines (example/) that is built with find_package(tutti). Then takes parts of the tree away.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Small, and the greedy schedule and the bounds do not meet: every exact method has to ask its solver.
INSTANCE = HERE.parent.parent / "instances/custom/custom-asymmetric-triangle.json"
OPTIMUM = 16  # instances/custom.solu
# Its only model for HiGHS has a million literals.
LARGE = HERE.parent.parent / "instances/dragonfly/dragonfly9x4x4-bc.json"


def run(command, environment=None, code=0):
    """stdout of a command that must end with `code`."""
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def story(command, environment):
    """What the command tells of its search."""
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True).stderr


def check(condition, message):
    if not condition:
        sys.exit(f"failed: {message}")


def doctor(program, environment):
    report = json.loads(run([program, "doctor", "--json"], environment))
    return report, {entry["name"]: entry for entry in report["backends"]}


def emitted(tree, scratch, compiler, environment):
    """A C++ program that the installed command writes needs only the installed header."""
    example = HERE.parent.parent / "examples/tensor/mlp"
    run([tree / "bin/tutti", "convert", f"{example}.json", f"{example}.schedule.json", "-q", "-o", scratch / "step.cpp"], environment)
    run([compiler, "-std=c++20", "-pthread", f"-I{tree}/include/tutti", scratch / "step.cpp", "-o", scratch / "step"], environment)
    check(run([scratch / "step"], environment).startswith("8 ranks: "), "an emitted C++ program runs with the installed header")
    for header in ("program", "streams", "einsum", "arrays"):  # CUDA programs need NVIDIA's headers as well
        check((tree / f"include/tutti/emit/gpu_{header}.hpp").exists(), f"emit/gpu_{header}.hpp is installed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    # Nothing of the caller's but what a sanitized build needs.
    clean = {name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "LSAN_", "UBSAN_"))}

    with tempfile.TemporaryDirectory(prefix="tutti-install-") as scratch:
        scratch = pathlib.Path(scratch)
        run([options.cmake, "--install", options.build, "--prefix", "/opt/tutti"],
            os.environ | {"DESTDIR": str(scratch / "stage")})
        tree = scratch / "moved"
        (scratch / "stage/opt/tutti").rename(tree)
        emitted(tree, scratch, options.compiler, clean | {"PATH": os.environ["PATH"]})
        tutti = tree / "bin/tutti"

        report, found = doctor(tutti, clean)
        _, built = doctor(options.build / "tutti", clean)
        for name, entry in built.items():
            check(found[name]["present"] == entry["present"], f"{name} in the installed tree: {found[name]}")
            if not entry["present"]:
                continue
            check(found[name]["works"], f"{name} does not work in the installed tree")
            # A sanitized build loads OR-Tools by its full path (models/backends/cpsat.cpp).
            ours = "build/deps" in entry["file"] and not (name == "cpsat" and "sanitizer" in report["build"])
            check(not ours or found[name]["file"].startswith(str(tree.resolve())),
                  f"{name} is loaded from {found[name]['file']}, not from the installed tree")
            licence = next(tree.glob(f"share/doc/tutti/licences/{name}.txt"), None)
            check(not ours or licence is not None, f"the licence of {name} is not installed")
        # The helper is not a program for people: without a parent it says so.
        run([tree / "libexec/tutti/tutti-solver"], clean, code=2)
        present = [name for name, entry in found.items() if entry["present"]]

        schedule = scratch / "schedule.json"
        for method in present or ["greedy"]:
            run([tutti, "synth", INSTANCE, "--method", method, "-o", schedule, "--quiet"], clean)
            run([tutti, "verify", INSTANCE, schedule, "--quiet"], clean)

        # A large model is solved by the installed helper process, which finds the modules too.
        if "highs" in present:
            said = story([tutti, "synth", LARGE, "--method", "highs", "-o", schedule, "--time-limit", "5"], clean)
            check("failed" not in said, f"the helper process of the installed tree: {said}")
            helper = tree / "libexec/tutti/tutti-solver"
            helper.rename(scratch / "tutti-solver")
            helper.write_text("#!/bin/sh\nexit 4\n")
            helper.chmod(0o755)
            said = story([tutti, "synth", LARGE, "--method", "highs", "-o", schedule], clean)
            check("exit code 4" in said, f"with another helper process: {said}")
            helper.unlink()
            (scratch / "tutti-solver").rename(helper)

        work = scratch / "example"
        run([options.cmake, "-S", HERE / "example", "-B", work, f"-DCMAKE_PREFIX_PATH={tree}",
             f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DCMAKE_CXX_FLAGS={options.flags}"])
        run([options.cmake, "--build", work])
        for method in present or ["greedy"]:
            said = run([work / "example", INSTANCE, method], clean)
            check(said.endswith(", valid\n"), f"the example says {said}")
            check(not present or said.startswith(f"makespan {OPTIMUM}, bound {OPTIMUM}, solver {method}"),
                  f"with {method} the example says {said}")

        # Without a module, and without a solver's library, the program starts and tells what is missing.
        modules = next(tree.glob("lib*/**/modules"), None)
        check(modules is not None or not present, "no modules are installed")
        for name in present:
            (modules / f"tutti_{name}.so").rename(scratch / f"tutti_{name}.so")
        _, without = doctor(tutti, clean)
        for name in present:
            check(not without[name]["present"] and f"no tutti_{name}.so in" in without[name]["reason"],
                  f"{name} without its module: {without[name]}")
        for name in set(present) & {"highs", "z3"}:
            (scratch / f"tutti_{name}.so").rename(modules / f"tutti_{name}.so")
            solvers = modules.parent / "solvers" / name
            if solvers.exists():
                solvers.rename(scratch / f"{name}.gone")
                _, without = doctor(tutti, clean)
                check(not without[name]["present"] and f"lib{name}" in without[name]["reason"],
                      f"{name} without its library: {without[name]}")
        run([tutti, "synth", INSTANCE, "--method", "greedy", "-o", schedule, "--quiet"], clean)
    print(f"the installed tree works; solvers in it: {', '.join(present) or 'none'}")


if __name__ == "__main__":
    main()
