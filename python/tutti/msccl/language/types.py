from .ir import *
