"""Processes that call plans together: tutti.shared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import tutti

RANKS = 3
BEGIN = f"""
import os, sys
import numpy as np
import tutti

rank, size, job = int(sys.argv[1]), {RANKS}, sys.argv[2]
def plan(kind, in_place):
    return tutti.compile("ring", collective=kind, ranks=size, in_place=in_place)
comm = tutti.shared(job, rank, size, timeout=30)
"""


def start(body: str, name: str, ranks: range = range(RANKS)) -> list[subprocess.Popen[str]]:
    program = BEGIN + textwrap.dedent(body)
    job = f"{name}-{os.getpid()}"
    return [subprocess.Popen([sys.executable, "-c", program, str(rank), job], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in ranks]


def end(processes: list[subprocess.Popen[str]], expected: int = 0) -> list[str]:
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == expected, err
        answers.append(out if expected == 0 else err)
    return answers


def test_arrays_are_reduced_in_place_and_out_of_place_shared_and_not() -> None:
    end(start(
        """
        for count in (1, 17, 30_001):
            for make in (comm.empty, np.empty):
                for engine in ("pieces", "streams") if make is comm.empty else ("pieces",):
                    reduce = plan("all_reduce", True)
                    for round in range(3):
                        y = make(count, np.float32)
                        y[:] = np.arange(count) % 100 + rank + round
                        comm.run(reduce, y, op="sum", engine=engine)
                        assert (y == 3 * (np.arange(count) % 100) + 3 + 3 * round).all(), (count, make, engine)
                gather = plan("all_gather", True)
                y = make((size, count), np.int64)
                y[rank] = np.arange(count) * 10 + rank
                comm.run(gather, y)
                assert (y == np.arange(count) * 10 + np.arange(size)[:, None]).all()
                x, y = make(count, np.int64), make((size, count), np.int64)
                x[:] = np.arange(count) * 7 + rank
                comm.run(gather, x, y)
                assert (y == np.arange(count) * 7 + np.arange(size)[:, None]).all()
        """, "arrays"))


def test_calls_that_differ_are_refused_in_all_processes() -> None:
    for err in end(start(
        """
        reduce = plan("all_reduce", True)
        try:
            comm.run(reduce, np.zeros(100 + rank, np.float32))
        except tutti.InputError as error:
            print(error, file=sys.stderr)
        y = np.full(10, rank, np.float32)
        comm.run(reduce, y)
        assert (y == 3).all()
        sys.exit(5)
        """, "differ"), 5):
        assert "all must call the same" in err


def test_a_process_that_is_killed_ends_the_others() -> None:
    processes = start(
        """
        y = np.zeros(1000, np.float32)
        while True:
            comm.run(plan("all_reduce", True), y)
            print("ran", flush=True)
        """, "killed")
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ran\n"
    processes[1].send_signal(signal.SIGKILL)
    begin = time.monotonic()
    for process in (processes[0], processes[2]):
        _, err = process.communicate(timeout=60)
        assert process.returncode == 1 and "process 1 of 3" in err
    assert time.monotonic() - begin < 30
    processes[1].communicate()


def test_processes_that_do_not_come_are_named() -> None:
    with pytest.raises(tutti.LimitError, match="of 2 processes 1 did not come within 0.1 s"):
        tutti.shared(f"alone-{os.getpid()}", 0, 2, timeout=0.1)
    with pytest.raises(tutti.InputError, match="expected a rank from 0 to 1, found 2"):
        tutti.shared("x", 2, 2)
