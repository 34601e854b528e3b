"""Modules that programs import although the DSL calls them internal."""

from . import globals, operations, types
