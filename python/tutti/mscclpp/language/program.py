"""The program, with the names that programs take from the module of this name."""

from .channel import *
from .collectives import *
from .core import *
from .core import set_program as set_program
from .rank import *
from .types import ChannelType as ChannelType
from .utils import *
