"""Networks of chunk programs: which rank may send to which."""

from .distributed import *
from .generic import *
from .nvidia import *
from .topology import Topology
