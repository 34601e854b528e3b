"""Runs the emitted module on gloo, a process for each rank, and the jax function on as many virtual devices: both give the same numbers.

    python3 compare.py small_step.py
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import numpy as np


def arguments(module) -> dict:
    """The whole arrays of every stage, by the names that the program gave them."""
    random = np.random.default_rng(1)
    stages = module.AXES["pipeline"]
    return {name: random.standard_normal((stages, *shape)).astype(np.float32) for name, (_, shape, _) in module.INPUTS.items()}


def rank_main(path: str, rank: int, folder: str) -> None:
    import torch
    import torch.distributed as dist

    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    module = load(path)
    ranks = module.AXES["pipeline"] * module.AXES["tensor"]
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=ranks)
    groups, coords = module.make_groups(), module.coordinates()
    mine = {name: module.own_part(name, torch.from_numpy(whole[coords["pipeline"]]), coords) for name, whole in arguments(module).items()}
    outputs = module.step(mine, groups, coords)
    np.save(f"{folder}/{rank}.npy", next(iter(outputs.values())).numpy())
    dist.destroy_process_group()


def load(path: str):
    sys.path.insert(0, str(Path(path).resolve().parent))
    return __import__(Path(path).stem)


def main() -> None:
    module = load(sys.argv[1])
    stages, ranks = module.AXES["pipeline"], module.AXES["tensor"]
    with tempfile.TemporaryDirectory() as folder:
        children = [multiprocessing.get_context("spawn").Process(target=rank_main, args=(sys.argv[1], rank, folder)) for rank in range(stages * ranks)]
        for child in children:
            child.start()
        for child in children:
            child.join()
        if any(child.exitcode for child in children):
            sys.exit("a rank failed")
        found = [np.load(f"{folder}/{rank}.npy") for rank in range(stages * ranks)]
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from layer import layer_on

    expected = np.asarray(layer_on(stages, ranks)(*arguments(module).values()))
    worst = max(np.abs(part - expected[rank // ranks]).max() for rank, part in enumerate(found))
    print(f"{stages * ranks} ranks: the largest difference is {worst:.1e}, the largest element {np.abs(expected).max():.1f}")
    if not worst <= 1e-5 * np.abs(expected).max():
        sys.exit("they differ")


if __name__ == "__main__":
    main()
