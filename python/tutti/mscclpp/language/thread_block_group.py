"""Thread blocks that share one operation."""

from .types import MisuseError, whole

__all__ = ["ThreadBlockGroup"]


class ThreadBlockGroup:
    def __init__(self, tb_list: list[int]) -> None:
        self.tb_list = list(tb_list)
        self._positions = {tb: position for position, tb in enumerate(self.tb_list)}
        if not self.tb_list or len(self._positions) != len(self.tb_list):
            raise MisuseError(f"expected distinct thread blocks in a group, found {self.tb_list}")

    def get_internal_id(self, tb: int) -> int:
        if tb not in self._positions:
            raise MisuseError(f"thread block {tb} is not in the group {self.tb_list}")
        return self._positions[tb]

    def numtb(self) -> int:
        return len(self.tb_list)


def shares(tb: int | None, tb_group: ThreadBlockGroup | None) -> list[tuple[int, tuple[int, int] | None]]:
    """The thread blocks of an operation, each with its part."""
    if tb is not None:
        return [(whole(tb, "a thread block", 0, 65535), None)]
    if tb_group is None:
        raise MisuseError("expected tb or tb_group: which thread blocks do this")
    count = tb_group.numtb()
    return [(whole(block, "a thread block", 0, 65535), (tb_group.get_internal_id(block), count)) for block in tb_group.tb_list]
