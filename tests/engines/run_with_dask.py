"""run_with_dask.py TASKS.TXT SCHEDULER_FILE: a running Dask scheduler runs the tasks."""
import subprocess
import sys

from distributed import Client


def run(command):
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as tasks, Client(scheduler_file=sys.argv[2]) as client:
        futures = client.map(run, tasks.read().splitlines(), pure=False, retries=3)
        client.gather(futures, errors="skip")
        sys.exit(any(future.status != "finished" for future in futures))
