"""The language: `with CollectiveProgram(…): MemoryChannel(1, 0).put(…); print(JSON())`."""

from . import channel, collectives, general, internal, loop, program, rank, thread_block_group, types, utils
from .channel import *
from .collectives import *
from .general import *
from .loop import *
from .program import *
from .rank import *
from .thread_block_group import *
from .utils import *
