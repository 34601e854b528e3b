"""Operations that are repeated for slices of the data."""

from . import core as _core
from .types import whole

__all__ = ["LoopIterationContext"]


class LoopIterationContext:
    def __init__(self, unit: int, num_chunks: int) -> None:
        self.unit = whole(unit, "the unit of a loop in bytes", 1, 2**62)
        self.num_chunks = whole(num_chunks, "the chunks of a loop", 1, 2**31 - 1)

    def __enter__(self) -> "LoopIterationContext":
        _core.get_program().begin_loop(self.unit, self.num_chunks)
        return self

    def __exit__(self, *_: object) -> None:
        _core.get_program().end_loop()
