"""tutti: collective-communication algorithms, synthesized, compiled and verified."""

from tutti.errors import InputError, ProgramError

__all__ = ["InputError", "ProgramError"]
