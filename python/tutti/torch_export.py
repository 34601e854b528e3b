"""torch.export graphs with functional collectives to tensor programs.

    from tutti import torch_export

    graphs = torch_export.export_ranks(lambda rank: (Model(rank), example_inputs), 4)  # no process group is needed
    p = torch_export.from_torch(graphs, {"tensor": 4}, layouts={"x": {}, "fc1.weight": {"tensor": 0}})

An exported program says what one rank does with its arrays. What they are parts of is said by `layouts`; an input that it does not name is the rank's own. Each collective's
group must be an axis of the mesh, or several. Where the ranks' programs differ in numbers (offsets of own parts), give the programs of all ranks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tutti.errors import InputError
from tutti.tensor import Program


@dataclass(frozen=True)
class RankGraph:
    """What one rank does: an exported program, and the ranks of each process group that it names."""

    program: Any
    rank: int
    groups: Mapping[str, Sequence[int]] = field(default_factory=dict)


def export_ranks(make: Callable[[int], tuple[Any, tuple[Any, ...]]], ranks: int) -> list[RankGraph]:
    """Exports the module that `make(rank)` returns, with its example arguments, for every rank, in this process and without any communication. `make` may make process
    groups, and ask torch.distributed for its rank."""
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if dist.is_initialized():
        raise InputError("export_ranks stands in for torch.distributed: call it where no process group is initialized")
    graphs = []
    for rank in range(ranks):
        hook = sys.excepthook
        dist.init_process_group("fake", rank=rank, world_size=ranks, store=FakeStore())
        try:
            module, arguments = make(rank)
            program = torch.export.export(module, arguments)
            graphs.append(RankGraph(program, rank, _live_groups(program)))
        finally:
            dist.destroy_process_group()
            sys.excepthook = hook  # PyTorch's would say of everything that it is of this rank
    return graphs


def from_torch(graphs: Any, mesh: Mapping[str, int], layouts: Mapping[str, Mapping[str, int | str]] | None = None, name: str = "imported", updates: Mapping[str, int] | None = None) -> Program:
    """A program from an exported program (of this process's rank), or from those of all ranks (`export_ranks`).

    `mesh`: axes and their sizes; ranks count along it, the last axis fastest. `layouts`: for inputs, by the name of the parameter, buffer or argument, the dimension that each axis
    slices, or "local"; {} is the same on all ranks. `updates`: input: the number of the output that is its next value. Buffers that the module changes are states."""
    given = list(graphs) if isinstance(graphs, Sequence) else [graphs]
    if not given:
        raise InputError("expected an exported program, found none")
    own = [graph if isinstance(graph, RankGraph) else RankGraph(graph, _live_rank(), _live_groups(graph)) for graph in given]
    if len(own) > 1 and [graph.rank for graph in own] != list(range(math.prod(mesh.values()))):
        raise InputError(f"expected one program, or one for each of the {math.prod(mesh.values())} ranks in order, found {len(own)}")
    from tutti.torch_graphs import Graphs

    graphs_read = Graphs([graph.rank for graph in own], [graph.groups for graph in own], [_functional(graph.program) for graph in own], dict(mesh), layouts or {})
    return Program.from_dict(graphs_read.program(name, updates or {}))


def _live_rank() -> int:
    import torch.distributed as dist

    return int(dist.get_rank()) if dist.is_initialized() else 0


def _group_names(program: Any) -> set[str]:
    nodes = (node for node in program.graph.nodes if node.op == "call_function" and "c10d_functional" in str(node.target) and "wait_tensor" not in str(node.target))
    return {argument for node in nodes for argument in list(node.args)[-1:] + list(node.kwargs.values()) if isinstance(argument, str)}


def _live_groups(program: Any) -> dict[str, list[int]]:
    import torch.distributed as dist
    from torch.distributed.distributed_c10d import _resolve_process_group

    names = _group_names(program)
    if names and not dist.is_initialized():
        raise InputError(f"the process groups {', '.join(sorted(names))} are not known here: import where torch.distributed is initialized, or give RankGraph(program, rank, groups)")
    return {name: list(dist.get_process_group_ranks(_resolve_process_group(name))) for name in names}


def _functional(program: Any) -> Any:
    """Without changes in place; what has a name of its own in tensor programs stays whole, the rest becomes simple operations."""
    import torch
    from torch._decomp import get_decompositions

    aten = torch.ops.aten
    table = torch.export.default_decompositions()
    table.update(get_decompositions([aten.gelu, aten.silu, aten._softmax, aten._log_softmax, aten.native_layer_norm, aten.addmm, aten.baddbmm, aten.mse_loss, aten.addcmul, aten.addcdiv, aten.lerp]))
    for kept in (aten.einsum.default, aten.matmul.default, aten.linear.default):
        if kept in table:
            table.pop(kept)
    return program.run_decompositions(table)
