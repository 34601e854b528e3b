from ..types import *
from ..utils import AlgoSpec as AlgoSpec
