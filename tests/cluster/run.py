#!/usr/bin/env python3
"""A batch on four ranks of one machine: `run.py TUTTI INSTANCES`.

Whatever happens to a job, the rows must be those of a run without ranks, and no process may be left. First the
ranks are started by hand (TUTTI_RANK), then by Open MPI's mpirun; where that is missing, the exit code is 77.
Tasks are made to last with TUTTI_TEST_SLOW, so that a rank can be killed while it is at one.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

RANKS = 4
PATIENCE = 60  # seconds; nothing here takes a tenth of it
VARYING = ("seconds", "candidates", "peak_memory_bytes", "finished", "host", "attempts")


class Failed(Exception):
    pass


def expect(condition, words):
    if not condition:
        raise Failed(words)


def wait_for(question, words):
    """The first answer that is not empty."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if answer := question():
            return answer
        time.sleep(0.02)
    raise Failed(f"waited in vain for {words}")


def lines(folder):
    path = folder / "out" / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rows(folder):
    found = {}
    for line in lines(folder):
        expect(line["key"] not in found, f"{line['key']} was done twice")
        found[line["key"]] = {name: value for name, value in line.items() if name not in VARYING}
        schedule = line["schedule"]
        expect(not schedule or (folder / schedule).exists(), f"no schedule {schedule}")
    return found


def processes(mark):
    """Those with the mark in their environment: pid, parent, rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue  # it has just ended, or is not ours
        if b"TUTTI_TEST_MARK=" + mark.encode() not in environment or state == "Z":
            continue
        values = dict(pair.split(b"=", 1) for pair in environment if b"=" in pair)
        rank = values.get(b"OMPI_COMM_WORLD_RANK") or values.get(b"TUTTI_RANK")
        found[int(entry.name)] = (int(parent), int(rank) if rank else None, name)
    return found


class Job:
    """Four ranks that do the batch in a folder. By hand, rank 0 stands for the launcher."""

    def __init__(self, tutti, folder, arguments, by_mpirun, slow):
        self.mark = uuid.uuid4().hex
        self.by_mpirun = by_mpirun
        environment = dict(os.environ, TUTTI_TEST_MARK=self.mark, TUTTI_JOB=self.mark)
        if slow:
            environment["TUTTI_TEST_SLOW"] = str(slow)
        command = [tutti, "batch", *arguments, "--jobs", "1", "-o", "out"]
        self.log = (folder / f"log-{self.mark}").open("w+b")
        commands = [(command, {"TUTTI_RANK": str(rank), "TUTTI_RANKS": str(RANKS)}) for rank in range(RANKS)]
        if by_mpirun:
            as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            commands = [(["mpirun", "--oversubscribe", "-n", str(RANKS), *command], as_root)]
        self.started = [
            subprocess.Popen(command, cwd=folder, env=environment | more, stdin=subprocess.DEVNULL, stdout=self.log,
                             stderr=self.log)
            for command, more in commands
        ]

    def launcher(self):
        return self.started[0]

    def worker_at_work(self):
        """A rank but the first that has a child, and has left its launcher if it wants to."""
        all = processes(self.mark)
        parents = {parent for parent, _, _ in all.values()}
        for pid, (parent, rank, name) in all.items():
            if rank and name == "tutti" and pid in parents and all.get(parent, (0, 0, ""))[2] != "mpirun":
                if self.by_mpirun or parent == os.getpid():
                    return pid
        return None

    def kill_worker_at_work(self):
        """True once one is killed that surely had a task: stopped first, it cannot get rid of it meanwhile."""
        pid = self.worker_at_work()
        if pid is None:
            return False
        os.kill(pid, signal.SIGSTOP)
        at_work = any(parent == pid for parent, _, _ in processes(self.mark).values())
        os.kill(pid, signal.SIGKILL if at_work else signal.SIGCONT)
        return at_work

    def rank0(self):
        for pid, (parent, rank, name) in processes(self.mark).items():
            if rank == 0 and name == "tutti" and parent in (os.getpid(), self.launcher().pid):
                return pid
        return None

    def end(self):
        """The exit code of the launcher, or of rank 0, once nothing is left."""
        try:
            code = self.launcher().wait(PATIENCE)
            wait_for(lambda: [one.poll() for one in self.started].count(None) == 0, "the ranks to end")
            wait_for(lambda: not processes(self.mark), "the last process to end")
            return code
        except (Failed, subprocess.TimeoutExpired) as error:
            raise Failed(f"{error}\nleft: {processes(self.mark)}\n{self.words()}") from None
        finally:
            for pid in processes(self.mark):
                os.kill(pid, signal.SIGKILL)

    def words(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")


class Cases:
    def __init__(self, tutti, instances, by_mpirun, scratch):
        self.tutti, self.by_mpirun, self.scratch = tutti, by_mpirun, scratch
        self.arguments = [instances, "--method", "greedy"]
        folder = self.folder("reference")
        subprocess.run([tutti, "batch", *self.arguments, "-o", "out", "--quiet"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, TUTTI_RANKS="1"), timeout=PATIENCE)
        self.wanted = rows(folder)
        expect(len(self.wanted) >= 2 * RANKS, "too few instances")

    def folder(self, name):
        folder = self.scratch / f"{'mpirun' if self.by_mpirun else 'by-hand'}-{name}"
        folder.mkdir()
        return folder

    def job(self, folder, slow, more=()):
        return Job(self.tutti, folder, [*self.arguments, *more], self.by_mpirun, slow)

    def check_all_done(self, job, folder):
        code = job.end()
        expect(code == 0, f"exit code {code}:\n{job.words()}")
        expect(rows(folder) == self.wanted, f"other rows than without ranks:\n{job.words()}")

    def all_ranks_work(self):
        folder = self.folder("all")
        job = self.job(folder, 0.3)
        at_work = set()
        while job.launcher().poll() is None:
            all = processes(job.mark)
            at_work |= {all[parent][1] for parent, _, _ in all.values() if parent in all and all[parent][2] == "tutti"}
            time.sleep(0.05)
        self.check_all_done(job, folder)
        expect(at_work == set(range(RANKS)), f"only the ranks {at_work} worked:\n{job.words()}")
        expect({line["attempts"] for line in lines(folder)} == {1}, "something was begun twice")
        expect(job.words().count("results are in") == 1, f"not only one rank talks:\n{job.words()}")
        expect(not list((folder / "out").glob(".ranks-*")), "a note with the secret is left")

    def a_killed_worker_is_replaced(self):
        folder = self.folder("worker")
        job = self.job(folder, 0.5)
        wait_for(job.kill_worker_at_work, "a worker at work")
        self.check_all_done(job, folder)
        attempts = [line["attempts"] for line in lines(folder)]
        expect(attempts.count(2) == 1 and max(attempts) == 2, f"attempts {attempts}:\n{job.words()}")
        expect("is lost with 1 task" in job.words(), job.words())

    def ended(self, name, end, slow=0.5):
        """The job is ended half-way, somehow; then another goes on."""
        folder = self.folder(name)
        job = self.job(folder, slow)
        wait_for(lambda: lines(folder), "the first line")
        wait_for(job.worker_at_work, "a worker at work")
        end(job)
        job.end()
        done = len(rows(folder))
        expect(done < len(self.wanted), f"there was nothing left to go on with ({done} rows)")
        self.check_all_done(self.job(folder, None, ["--resume"]), folder)

    def a_killed_launcher_leaves_nothing(self):
        self.ended("launcher-kill", lambda job: job.launcher().kill())

    def an_interrupted_launcher_leaves_nothing(self):
        # mpirun takes a second to pass it on.
        self.ended("launcher-int", lambda job: job.launcher().send_signal(signal.SIGINT), slow=1.5)

    def a_killed_rank_0_leaves_nothing(self):
        self.ended("rank0", lambda job: os.kill(job.rank0(), signal.SIGKILL))

    def all(self):
        cases = [self.all_ranks_work, self.a_killed_worker_is_replaced, self.a_killed_launcher_leaves_nothing]
        if self.by_mpirun:  # by hand, rank 0 is the launcher
            cases += [self.an_interrupted_launcher_leaves_nothing, self.a_killed_rank_0_leaves_nothing]
        return cases


def has_open_mpi():
    if not shutil.which("mpirun"):
        return False
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in version.stdout


def main():
    tutti, instances = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    for name in [name for name in os.environ if name.startswith(("OMPI_", "PMI", "SLURM_", "TUTTI_"))]:
        del os.environ[name]
    failed = 0
    launchers = [False, True] if has_open_mpi() else [False]
    with tempfile.TemporaryDirectory() as scratch:
        for by_mpirun in launchers:
            for case in Cases(tutti, instances, by_mpirun, pathlib.Path(scratch)).all():
                begin = time.monotonic()
                try:
                    case()
                    words = "ok"
                except Failed as error:
                    words = f"FAILED: {error}"
                    failed += 1
                launcher = "mpirun" if by_mpirun else "by hand"
                print(f"{launcher}: {case.__name__}: {words} ({time.monotonic() - begin:.1f} s)", flush=True)
    if failed:
        return 1
    if len(launchers) == 1:
        print("Open MPI's mpirun is not here (apt-get install openmpi-bin): that part is skipped")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
