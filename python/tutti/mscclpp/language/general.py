"""The plan of the program around the call."""

from . import core as _core

__all__ = ["JSON"]


def JSON() -> str:
    return _core.get_program().to_json()
