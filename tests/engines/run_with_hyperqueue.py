"""run_with_hyperqueue.py TASKS.TXT SERVER_DIRECTORY: a running HyperQueue server runs the tasks."""
import sys

from hyperqueue import Client, Job


def run(client, tasks):
    """Whether every command ended well."""
    job = Job(max_fails=None)
    with open(tasks, encoding="utf-8") as lines:
        for command in lines.read().splitlines():
            job.program(["sh", "-c", command], stdout=None, stderr=None)
    return client.wait_for_jobs([client.submit(job)], raise_on_error=False)


if __name__ == "__main__":
    sys.exit(not run(Client(sys.argv[2]), sys.argv[1]))
