from ..core import get_program as get_program, set_program as set_program
