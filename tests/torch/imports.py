#!/usr/bin/env python3
"""Modules as people write them, with functional collectives: exported by torch.export, imported (tutti.torch_export), and the programs give what the modules give on gloo,
a process for each rank. What is not understood is named with its node and line. Skipped (77) where PyTorch is not installed.

    PYTHONPATH=python python3 tests/torch/imports.py
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python/tests")]
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
try:
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol
    import torch.nn.functional as F
except (ImportError, OSError, ValueError) as error:
    print(f"skipped: PyTorch is not installed ({error})")
    sys.exit(77)
from tensor_meaning import evaluate, part  # noqa: E402
from tutti import InputError, torch_export  # noqa: E402

warnings.filterwarnings("ignore", category=FutureWarning)  # new names for the same calls
COMMUNICATION = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "shift", "broadcast_from", "reduce_to")


def line(size: int, stride: int = 1):
    """The group of this rank: `size` ranks that are `stride` apart."""
    mine = None
    for first in range(dist.get_world_size()):
        if first // stride % size == 0:
            ranks = [first + stride * i for i in range(size)]
            group = dist.new_group(ranks)
            mine = group if dist.get_rank() in ranks else mine
    return mine


class Megatron(torch.nn.Module):
    """Columns of the first weight, rows of the second; norm, bias and residual on every rank."""

    def __init__(self):
        super().__init__()
        self.group = line(2)
        self.norm, self.fc1 = torch.nn.LayerNorm(8), torch.nn.Linear(8, 6)
        self.fc2, self.bias = torch.nn.Linear(6, 8, bias=False), torch.nn.Parameter(torch.zeros(8))

    def forward(self, x):
        hidden = F.gelu(self.fc1(self.norm(x)))
        return funcol.all_reduce(self.fc2(hidden), "sum", self.group) + self.bias + x


class SequenceParallel(torch.nn.Module):
    """Activations sliced along the sequence between the products."""

    def __init__(self):
        super().__init__()
        self.group = line(2)
        self.w1, self.w2 = torch.nn.Parameter(torch.zeros(8, 6)), torch.nn.Parameter(torch.zeros(6, 8))

    def forward(self, x):
        hidden = F.silu(funcol.all_gather_tensor(x, 1, self.group) @ self.w1)
        return funcol.reduce_scatter_tensor(hidden @ self.w2, "sum", 1, self.group) + x


class DataParallelAdam(torch.nn.Module):
    """The mean of the gradients over all ranks of two axes, and Adam; moments are buffers that it changes in place."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = line(2), line(2, 2)
        self.register_buffer("m", torch.zeros(10))
        self.register_buffer("v", torch.zeros(10))
        self.register_buffer("w", torch.zeros(10))

    def forward(self, grad, lr):
        grad = funcol.all_reduce(funcol.all_reduce(grad, "avg", self.inner), "sum", self.outer) / 2
        self.m.mul_(0.9).add_(grad, alpha=0.1)
        self.v.mul_(0.999).addcmul_(grad, grad, value=0.001)
        self.w.sub_(lr * self.m / (self.v.sqrt() + 1e-8))
        return self.w.square().sum().sqrt()


class FullySharded(torch.nn.Module):
    """Weights gathered for the forward pass, their gradients scattered for the step on the own part."""

    def __init__(self):
        super().__init__()
        self.group = line(2)
        self.register_buffer("w", torch.zeros(4, 6))

    def forward(self, x, y):
        w = funcol.all_gather_tensor(self.w, 0, self.group)
        error = x @ w - y
        self.w.sub_(0.01 * funcol.reduce_scatter_tensor(x.t() @ error, "sum", 0, self.group))
        return funcol.all_reduce((error * error).mean(), "sum", self.group)


class Experts(torch.nn.Module):
    """Two experts on each rank; tokens go to them and come back."""

    def __init__(self):
        super().__init__()
        self.group = line(2)
        self.w1, self.w2 = torch.nn.Parameter(torch.zeros(2, 8, 6)), torch.nn.Parameter(torch.zeros(2, 6, 8))

    def forward(self, x):
        sent = funcol.all_to_all_single(x, None, None, self.group).unflatten(0, (2, 2)).transpose(0, 1).flatten(1, 2)
        made = torch.bmm(torch.relu(torch.bmm(sent, self.w1)), self.w2)
        return funcol.all_to_all_single(made.unflatten(1, (2, -1)).transpose(0, 1).flatten(0, 1).contiguous(), None, None, self.group)


class Attention(torch.nn.Module):
    """Heads on different ranks."""

    def __init__(self):
        super().__init__()
        self.group = line(2)
        self.q, self.k, self.v = (torch.nn.Linear(8, 8) for _ in "qkv")
        self.out = torch.nn.Linear(8, 8, bias=False)

    def forward(self, x):
        q, k, v = (heads(x).unflatten(1, (2, 4)).transpose(0, 1) for heads in (self.q, self.k, self.v))
        mixed = torch.softmax(q @ k.transpose(1, 2) / 2, -1) @ v
        return funcol.all_reduce(self.out(mixed.transpose(0, 1).flatten(1)), "sum", self.group)


# The mesh, the shapes of arguments on a rank, layouts, and the communication that the program has to have.
CASES = {
    Megatron: ({"tensor": 2}, {"x": (3, 8)}, {"x": {}, "norm.weight": {}, "norm.bias": {}, "fc1.weight": {"tensor": 0}, "fc1.bias": {"tensor": 0}, "fc2.weight": {"tensor": 1}, "bias": {}},
               ["all_reduce tensor"]),
    SequenceParallel: ({"tensor": 2}, {"x": (2, 3, 8)}, {"x": {"tensor": 1}, "w1": {"tensor": 1}, "w2": {"tensor": 0}}, ["all_gather tensor", "reduce_scatter tensor"]),
    DataParallelAdam: ({"outer": 2, "inner": 2}, {"grad": (10,), "lr": ()}, {"m": {}, "v": {}, "w": {}, "lr": {}}, ["all_reduce inner", "all_reduce outer"]),
    FullySharded: ({"data": 2}, {"x": (5, 8), "y": (5, 6)}, {"w": {"data": 0}}, ["all_gather data", "reduce_scatter data", "all_reduce data"]),
    Attention: ({"tensor": 2}, {"x": (5, 8)}, {"x": {}, **{f"{name}.{kind}": {"tensor": 0} for name in "qkv" for kind in ("weight", "bias")}, "out.weight": {"tensor": 1}}, ["all_reduce tensor"]),
    Experts: ({"expert": 2}, {"x": (4, 3, 8)}, {"w1": {"expert": 0}, "w2": {"expert": 0}}, ["all_to_all expert", "all_to_all expert"]),
}


def arguments(shapes):
    return tuple(torch.zeros(shape) for shape in shapes.values())


def rank_main(case, program, arrays, rank: int, folder: str) -> None:
    mesh, shapes, _, _ = CASES[case]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=math.prod(mesh.values()))
    module = case().double()
    mine = {value["id"]: part(arrays[value["id"]], layout_of(value), mesh, rank) for value in program["values"] if value["op"] == "input"}
    module.load_state_dict({name: torch.tensor(mine[name]) for name in module.state_dict()})
    with torch.no_grad():
        made = module(*(torch.tensor(mine[name]) for name in shapes))
    changed = [value["args"][0] for value in program["values"] if value["op"] == "update"]
    found = [dict(module.named_buffers())[name] for name in changed] + list(made if isinstance(made, tuple) else [made])
    np.savez(f"{folder}/{rank}.npz", *(one.numpy() for one in found))
    dist.destroy_process_group()


def layout_of(value):
    return {axis: where if where == "local" else where["sliced"] for axis, where in value.get("layout", {}).items()}


def check(case) -> str:
    """What is wrong, or nothing."""
    mesh, shapes, layouts, communication = CASES[case]
    ranks = math.prod(mesh.values())
    program = torch_export.from_torch(torch_export.export_ranks(lambda rank: (case(), arguments(shapes)), ranks), mesh, layouts).to_dict()
    found = [" ".join([value["op"], *(value.get("axes") or [value["axis"]])]) for value in program["values"] if value["op"] in COMMUNICATION]
    if found != communication:
        return f"the program communicates by {found}, expected {communication}"
    random = np.random.default_rng(len(program["values"]))
    arrays = {}
    for value in program["values"]:
        if value["op"] == "input":
            ahead = [size if layout_of(value).get(axis) == "local" else 1 for axis, size in mesh.items()]
            arrays[value["id"]] = random.uniform(0.1, 1, ahead + value["shape"])
    expected, lays = evaluate(program, arrays)
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(ranks):
            child = os.fork()
            if child == 0:
                try:
                    rank_main(case, program, arrays, rank, folder)
                    os._exit(0)
                except BaseException as error:
                    print(f"rank {rank}: {error!r}", flush=True)
                    os._exit(1)
            children.append(child)
        if any([os.waitpid(child, 0)[1] for child in children]):
            return "a rank failed"
        for rank in range(ranks):
            with np.load(f"{folder}/{rank}.npz") as made:
                for number, (whole, layout) in enumerate(zip(expected, lays)):
                    own, theirs = part(whole, layout, mesh, rank), made[f"arr_{number}"]
                    if own.shape != theirs.shape or not np.allclose(own, theirs, rtol=1e-12, atol=1e-12):
                        return f"output {number} on rank {rank} is {theirs.ravel()[:3]}, expected {own.ravel()[:3]}"
    return ""


def refused() -> str:
    """What has no counterpart is named, with its node and its line."""
    class Sorted(torch.nn.Module):
        def forward(self, x):
            return torch.sort(x).values

    class Fixed(torch.nn.Module):
        def forward(self, x):
            return x[1:2] * 2

    class Strange(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.group = dist.new_group([0, 3]) if dist.get_rank() in (0, 3) else None
            self.rest = dist.new_group([1, 2])

        def forward(self, x):
            return funcol.all_reduce(x, "sum", self.group or self.rest)
    for module, ranks, words in ((Sorted, 1, "aten.sort"), (Fixed, 1, "a slice at a fixed place"), (Strange, 4, "which is no axis of the mesh")):
        def make(rank, module=module):
            if module is Strange:
                dist.new_group([0, 3])
            return module(), (torch.zeros(4),)
        try:
            torch_export.from_torch(torch_export.export_ranks(make, ranks), {"data": 2, "tensor": 2} if ranks == 4 else {"data": 1})
        except InputError as error:
            if words not in str(error) or "node " not in str(error) or "imports.py:" not in str(error):
                return f"expected to read '{words}' with the node and its line, found '{error}'"
        else:
            return f"{module.__name__} is not refused"
    return ""


def main() -> int:
    wrong = 0
    for case in CASES:
        words = check(case)
        print(f"{'FAILED' if words else 'right'}: {case.__name__}{': ' + words if words else ''}", flush=True)
        wrong += bool(words)
    words = refused()
    print(f"{'FAILED: ' + words if words else 'right'}: what is not understood is named", flush=True)
    return 1 if wrong or words else 0


if __name__ == "__main__":
    sys.exit(main())
