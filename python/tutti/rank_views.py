"""Arrays that a rank has only rearranged: split, merged and permuted dimensions of a value.

PyTorch's collectives work on the first dimension, so programs move the dimension that they mean there, and back afterwards: `chunk` and `cat`, or `unflatten`, `movedim` and
`flatten`. A `Folded` remembers where each part of a dimension came from until a collective, or anything else, wants it: a call then stands on the dimension that was meant,
and what only moved data for it is gone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutti.rank_programs import NotUnderstood, Tensor, Writer

Atoms = tuple[int, ...]  # parts of dimensions, the coarsest first, by their numbers


@dataclass(frozen=True)
class Pending:
    """A gather, or an all_to_all from `split`, that brings one chunk from each rank; the dimension that they go to is open until it is seen where they are put."""

    axes: tuple[str, ...]
    chunk: int
    split: int | None = None


@dataclass(frozen=True, eq=False)
class Folded:
    source: Tensor
    parts: tuple[Atoms, ...]  # what the source's dimensions consist of
    dims: tuple[Atoms, ...]  # what this array's do
    sizes: dict[int, int]  # of the atoms
    pending: Pending | None = None

    @property
    def dtype(self) -> str:
        return self.source.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(math.prod(self.sizes[atom] for atom in atoms) for atoms in self.dims)

    def with_atom(self, size: int) -> tuple[int, dict[int, int]]:
        atom = max(self.sizes, default=-1) + 1
        return atom, self.sizes | {atom: size}

    def divided(self, atom: int, coarse: int) -> Folded:
        """The same with an atom as two, the first of which has `coarse` elements. That one keeps the number."""
        fine, sizes = self.with_atom(self.sizes[atom] // coarse)
        sizes = sizes | {atom: coarse}

        def both(groups: tuple[Atoms, ...]) -> tuple[Atoms, ...]:
            return tuple(tuple(itertools.chain.from_iterable((one, fine) if one == atom else (one,) for one in atoms)) for atoms in groups)
        return replace(self, parts=both(self.parts), dims=both(self.dims), sizes=sizes)

    def permuted(self, perm: Sequence[int]) -> Folded:
        return replace(self, dims=tuple(self.dims[dim] for dim in perm))

    def viewed(self, shape: Sequence[int]) -> Folded | None:
        """None where a dimension would begin within a part that does not divide."""
        folded, dims = self, []
        line = [atom for atoms in self.dims for atom in atoms]
        for size in shape:
            atoms: list[int] = []
            while size > 1:
                if not line:
                    return None
                atom = line.pop(0)
                have = folded.sizes[atom]
                if size % have == 0:
                    size //= have
                elif have % size == 0 and not (folded.pending and folded.pending.chunk == atom):
                    folded = folded.divided(atom, size)
                    line.insert(0, max(folded.sizes))
                    size = 1
                else:
                    return None
                atoms.append(atom)
            dims.append(tuple(atoms))
        return None if line else replace(folded, dims=tuple(dims))

    def moved_ahead(self, dim: int, count: int, to: int) -> Folded:
        """Equal chunks of one dimension, one behind the other along another one (chunk and cat)."""
        shape = self.shape
        folded = self.viewed([*shape[:dim], count, shape[dim] // count, *shape[dim + 1:]])
        if folded is None:
            raise NotUnderstood("chunks that are cut within a part")
        chunk, rest = folded.dims[dim], [*folded.dims[:dim], *folded.dims[dim + 1:]]
        rest[to] = chunk + rest[to]
        return replace(folded, dims=tuple(rest))


def folded(writer: Writer, value: Tensor) -> Folded:
    """Dimensions of one element have no atoms."""
    sizes: dict[int, int] = {}
    parts: list[Atoms] = []
    for size in writer.seen(value):
        parts.append((len(sizes),) if size != 1 else ())
        if size != 1:
            sizes[len(sizes)] = size
    return Folded(value, tuple(parts), tuple(parts), sizes)


def unfolded(writer: Writer, value: Folded) -> Tensor:
    """As a value: what is pending is called, what was rearranged is moved."""
    value = _called(writer, value)
    if value.dims == value.parts:
        return value.source
    after = {atoms[i]: atoms[i + 1] for atoms in value.dims for i in range(len(atoms) - 1)}
    groups: list[Atoms] = []  # of atoms that stay together
    for atoms in value.parts:
        for i, atom in enumerate(atoms):
            if i > 0 and after.get(atoms[i - 1]) == atom:
                groups[-1] += (atom,)
            else:
                groups.append((atom,))
    line = [atom for atoms in value.dims for atom in atoms]
    order = sorted(range(len(groups)), key=lambda at: line.index(groups[at][0]))
    sizes = [math.prod(value.sizes[atom] for atom in group) for group in groups]
    made = value.source
    if order != sorted(order):
        made = writer.tensor(writer.reshape(made, tuple(sizes)))
        made = writer.transpose(made, order)
    return writer.tensor(writer.reshape(made, value.shape))


def _called(writer: Writer, value: Folded) -> Folded:
    if value.pending is None:
        return value
    pending, source, parts = value.pending, value.source, list(value.parts)
    place = None
    for atoms in value.dims:
        if pending.chunk in atoms:
            behind = atoms[atoms.index(pending.chunk) + 1:]
            place = next((dim for dim, part in enumerate(parts) if part and part == behind[:len(part)]), None)
    split = pending.split
    if place is None:  # in a dimension of its own
        source = writer.tensor(writer.reshape(source, (1, *writer.seen(source))))
        parts.insert(0, ())
        place, split = 0, None if split is None else split + 1
    parts[place] = (pending.chunk, *parts[place])
    made = writer.all_gather(source, pending.axes, place) if split is None else writer.all_to_all(source, pending.axes, split, place)
    return replace(value, source=writer.tensor(made), parts=tuple(parts), pending=None)


def gathered(writer: Writer, value: Folded, axes: Sequence[str], count: int) -> Folded:
    """all_gather along the first dimension."""
    value = _settled(writer, value)
    chunk, sizes = value.with_atom(count)
    return replace(value, dims=((chunk, *value.dims[0]), *value.dims[1:]), sizes=sizes, pending=Pending(tuple(axes), chunk))


def _settled(writer: Writer, value: Folded) -> Folded:
    return folded(writer, unfolded(writer, value)) if value.pending is not None else value


def _first_chunk(writer: Writer, value: Folded, count: int) -> tuple[Folded, int, int]:
    """With an atom of `count` elements at the head of the first dimension, the coarsest of a dimension of the source; that dimension."""
    for candidate in (_settled(writer, value), None):
        if candidate is None:
            candidate = folded(writer, unfolded(writer, value))
        shape = candidate.shape
        if shape[0] % count:
            raise NotUnderstood(f"{count} chunks of a dimension of {shape[0]} elements")
        divided = candidate.viewed([count, shape[0] // count, *shape[1:]])
        if divided is not None and len(divided.dims[0]) == 1:
            (chunk,) = divided.dims[0]
            dim = next((dim for dim, atoms in enumerate(divided.parts) if atoms[:1] == (chunk,)), None)
            if dim is not None:
                return replace(divided, dims=(divided.dims[0] + divided.dims[1], *divided.dims[2:])), chunk, dim
    raise NotUnderstood("chunks that are no parts of a dimension")


def _without(value: Folded, chunk: int) -> tuple[tuple[Atoms, ...], tuple[Atoms, ...]]:
    def rest(groups: tuple[Atoms, ...]) -> tuple[Atoms, ...]:
        return tuple(tuple(atom for atom in atoms if atom != chunk) for atoms in groups)
    return rest(value.parts), rest(value.dims)


def scattered(writer: Writer, value: Folded, axes: Sequence[str], count: int, reduce: str) -> Folded:
    """reduce_scatter along the first dimension."""
    value, chunk, dim = _first_chunk(writer, value, count)
    parts, dims = _without(value, chunk)
    return replace(value, source=writer.tensor(writer.reduce_scatter(value.source, axes, reduce, dim)), parts=parts, dims=dims)


def exchanged(writer: Writer, value: Folded, axes: Sequence[str], count: int) -> Folded:
    """all_to_all of equal chunks of the first dimension."""
    value, chunk, dim = _first_chunk(writer, value, count)
    parts, dims = _without(value, chunk)
    arrived, sizes = value.with_atom(count)
    return replace(value, parts=parts, dims=((arrived, *dims[0]), *dims[1:]), sizes=sizes, pending=Pending(tuple(axes), arrived, dim))
