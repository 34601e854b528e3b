#!/usr/bin/env python3
"""Runs the tasks of `tutti batch --list-tasks` with an engine, by the script that docs/batch.md shows; one of its workers is killed.

The rows must be those of one run. Where the engine cannot be had (scripts/setup --with-engines installs it), the test says so and is
skipped. Servers listen on loopback (HyperQueue's only where a network namespace can be made), and are ended with the test.
"""
import argparse
import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = ROOT / "build" / "engines"
VARYING = ("seconds", "candidates", "peak_memory_bytes", "finished", "host")
SKIPPED = 77
MOST_SECONDS = 90


class Missing(Exception):
    """Why the engine cannot be used on this machine."""


def shown(script):
    """The script, once it is sure that docs/batch.md shows all of it."""
    text = "".join(f"    {line}\n" if line else "\n" for line in (HERE / script).read_text().splitlines())
    if text not in (ROOT / "docs" / "batch.md").read_text():
        sys.exit(f"docs/batch.md does not show {script} as it is")
    return HERE / script


def wait_until(condition, what):
    end = time.monotonic() + MOST_SECONDS
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited {MOST_SECONDS} s in vain for {what}")
        time.sleep(0.02)


class Batch:
    """Small instances, what one run makes of them, and a list of the same tasks."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        kinds = ["all_gather", "all_reduce", "all_to_all", "broadcast"]
        for i in range(12):
            instance = {"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 4 + i % 3}}, "collectives": [{"kind": kinds[i % 4]}]}
            path = folder / "instances" / "ring" / f"it's {i}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(instance) if i != 5 else "{")
        asked = ["instances", "--seeds", "1,2", "--method", "greedy", "-q"]
        self.tutti(*asked, "-o", "whole", "--no-report")
        commands = self.tutti(*asked, "-o", "out", "--list-tasks").splitlines()
        self.count = len(commands)
        self.tasks = folder / "tasks.txt"
        # Each takes a moment, so that workers can be met at work.
        self.tasks.write_text("".join(f"sleep 0.2; {command}\n" for command in commands))

    def tutti(self, *arguments):
        return subprocess.run([self.program, "batch", *arguments], cwd=self.folder, check=False, text=True, stdout=subprocess.PIPE).stdout

    def done(self):
        return len(list((self.folder / "out" / "tasks").glob("??/*.json")))

    def wait_until_half_way(self):
        wait_until(lambda: self.done() >= self.count // 3, "a third of the rows")

    @staticmethod
    def wait_for(engine):
        if engine.wait(MOST_SECONDS) != 0:
            sys.exit(f"the engine ended with exit code {engine.returncode}")

    def rows(self, name):
        rows = {}
        for line in (self.folder / name / "results.jsonl").read_text().splitlines():
            row = {key: value for key, value in json.loads(line).items() if key not in VARYING}
            row["schedule"] = row["schedule"] and row["schedule"].split("/", 1)[1]
            if row["key"] in rows:
                sys.exit(f"two lines for {row['key']}")
            rows[row["key"]] = row
        return rows

    def check(self):
        """The engine has ended. It gave lost work to other workers, so every row is there; and they are those of one run."""
        if self.done() != self.count:
            sys.exit(f"the engine left {self.done()} of {self.count} rows")
        self.tutti("--resume", "-o", "out", "--no-report", "-q")
        expected, found = self.rows("whole"), self.rows("out")
        for key in expected.keys() | found.keys():
            if expected.get(key) != found.get(key):
                sys.exit(f"{key}: {found.get(key)} instead of {expected.get(key)}")


def found(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not path:
        raise Missing(f"{program} is not installed (scripts/setup --with-engines)")
    return path


def environment():
    return {**os.environ, "PYTHONPATH": str(PACKAGES)}


def module(name):
    if subprocess.run([sys.executable, "-c", f"import {name}"], env=environment(), stderr=subprocess.DEVNULL, check=False).returncode:
        raise Missing(f"the Python package {name} is not installed (scripts/setup --with-engines)")


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def process(*words, **more):
    """A process that is ended at the end."""
    started = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(5)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def children_of(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], stdout=subprocess.PIPE, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def parallel(batch):
    script = shown("parallel.sh")
    found("parallel")
    with process("sh", script, batch.tasks, "--jobs", "2") as engine:
        batch.wait_until_half_way()
        victims = []
        wait_until(lambda: victims.extend(children_of(engine.pid)) or victims, "a task at work")
        kill(victims[0])
        batch.wait_for(engine)
    batch.check()


def dask(batch):
    script = shown("run_with_dask.py")
    module("distributed")
    file = batch.folder / "scheduler.json"
    quiet = {"env": environment(), "cwd": batch.folder}
    scheduler = ("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file)
    worker = ("-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--host", "127.0.0.1", "--nthreads", "1", "--nworkers", "1",
              "--no-dashboard", "--no-nanny", "--death-timeout", "60")
    with process(sys.executable, *scheduler, **quiet):
        wait_until(file.exists, "the scheduler")
        with process(sys.executable, *worker, **quiet), process(sys.executable, *worker, **quiet) as victim:
            with process(sys.executable, script, batch.tasks, file, **quiet) as engine:
                batch.wait_until_half_way()
                kill(victim.pid)
                batch.wait_for(engine)
    batch.check()


def hyperqueue(batch):
    shown("run_with_hyperqueue.py")  # which hyperqueue_cut.py imports
    if platform.machine() != "x86_64":
        raise Missing("its Python package is for x86_64 only")
    module("hyperqueue")
    # The server listens everywhere: without a network there is only loopback.
    alone = ["unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        alone = []
    done = subprocess.run([*alone, sys.executable, HERE / "hyperqueue_cut.py", batch.tasks, batch.folder, str(batch.count // 3)], cwd=batch.folder,
                          env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=MOST_SECONDS, check=False)
    if done.returncode:
        sys.exit(done.stdout)
    batch.check()


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def slurm_configuration(folder, host):
    return f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={free_port()}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ReturnToService=2
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=2
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=2
PartitionName=all Nodes=one,two Default=YES State=UP MaxTime=INFINITE
"""


def processes_with(*settings):
    """Those whose environment has all of these."""
    pids = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and set(settings) <= set((entry / "environ").read_bytes().split(b"\0")):
                pids.append(int(entry.name))
    return pids


def slurm(batch):
    script = shown("slurm.sh")
    munged, slurmctld, slurmd = found("munged"), found("slurmctld"), found("slurmd")
    found("sbatch")
    if os.geteuid() != 0:
        raise Missing("slurmd needs root")
    folder = batch.folder / "slurm"
    folder.mkdir(mode=0o755)
    (folder / "state").mkdir()
    for path in (batch.folder, folder):
        path.chmod(0o755)  # munge refuses sockets in folders that others can write, or cannot enter
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    (folder / "slurm.conf").write_text(slurm_configuration(folder, socket.gethostname().split(".")[0]))
    setting = f"SLURM_CONF={folder}/slurm.conf"
    ours = {"env": {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}, "cwd": batch.folder}

    def ask(*words):
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, **ours).stdout

    files = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    with contextlib.ExitStack() as running:
        running.enter_context(process(munged, "--foreground", "--force", f"--socket={folder}/munge.socket", *files))
        wait_until((folder / "munge.socket").exists, "munged")
        running.enter_context(process(slurmctld, "-D", "-i", **ours))
        running.enter_context(process(slurmd, "-D", "-N", "one", **ours))
        victim = running.enter_context(process(slurmd, "-D", "-N", "two", **ours))
        wait_until(lambda: ask("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "2", "two nodes")
        job = ask("sbatch", "--parsable", str(script), str(batch.tasks)).strip()
        if not job:
            sys.exit("sbatch took no job")
        batch.wait_until_half_way()
        kill(victim.pid)
        for pid in processes_with(setting.encode(), b"SLURMD_NODENAME=two"):
            kill(pid)
        ask("scontrol", "update", "nodename=two", "state=down", "reason=killed")
        # An element that is queued again waits for two minutes.
        wait_until(lambda: ask("squeue", "-h", "-r", "-j", job) == "" or ask("scontrol", "update", f"job={job}", "starttime=now"), "the jobs")
        for pid in processes_with(setting.encode()):
            if pid != os.getpid():
                kill(pid)
    batch.check()


ENGINES = {"parallel": parallel, "dask": dask, "hyperqueue": hyperqueue, "slurm": slurm}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutti-engine-") as name:
        try:
            ENGINES[options.engine](Batch(str(options.program.resolve()), pathlib.Path(name)))
        except Missing as reason:
            print(f"not tested with {options.engine}: {reason}")
            sys.exit(SKIPPED)
    print(f"{options.engine}: the same rows, with a worker killed")


if __name__ == "__main__":
    main()
