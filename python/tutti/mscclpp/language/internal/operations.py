from ..operations import *
