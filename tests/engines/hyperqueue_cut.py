"""hyperqueue_cut.py TASKS.TXT FOLDER COUNT: runs the tasks with a HyperQueue server and two workers of one core.

The Python package can start workers only as threads of this process, so none can be killed. Instead the connection of one worker is
cut when COUNT rows are there; for the server this is the same as a machine that is lost."""
import os
import pathlib
import socket
import sys
import threading
import time

from hyperqueue import LocalCluster
from hyperqueue.cluster import WorkerConfig
from run_with_hyperqueue import run


def connections(port):
    """Descriptors of this process that are connected to that port."""
    found = []
    for entry in pathlib.Path("/proc/self/fd").iterdir():
        try:
            with socket.socket(fileno=os.dup(int(entry.name))) as peer:
                if peer.family in (socket.AF_INET, socket.AF_INET6) and peer.getpeername()[1] == port:
                    found.append(int(entry.name))
        except OSError:
            pass
    return found


def listening():
    """Ports at which this process listens."""
    ports = []
    for entry in pathlib.Path("/proc/self/fd").iterdir():
        try:
            with socket.socket(fileno=os.dup(int(entry.name))) as here:
                if here.family in (socket.AF_INET, socket.AF_INET6) and here.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    ports.append(here.getsockname()[1])
        except OSError:
            pass
    return ports


def cut(rows, count, descriptor):
    while len(list(rows.glob("??/*.json"))) < count:
        time.sleep(0.02)
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        connection.shutdown(socket.SHUT_RDWR)


def main():
    tasks, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    (folder / "server").mkdir()
    with LocalCluster(str(folder / "server")) as cluster:
        for _ in range(2):
            cluster.start_worker(WorkerConfig(cores=1))
        workers = []
        while len(workers) < 2:
            time.sleep(0.02)
            workers = [descriptor for port in listening() for descriptor in connections(port)]
        threading.Thread(target=cut, args=(folder / "out" / "tasks", count, workers[0]), daemon=True).start()
        sys.exit(not run(cluster.client(), tasks))


if __name__ == "__main__":
    main()
