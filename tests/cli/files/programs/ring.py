"""A ring of all-reduces, written for msccl-tools' language."""
import sys

from msccl.language import *
from msccl.language.collectives import AllReduce
from msccl.topologies import *

n = int(sys.argv[1])
with MSCCLProgram("ring", ring(n), AllReduce(n, n, True), instances=1, protocol="LL"):
    for c in range(n):
        x = chunk(c, Buffer.input, c)
        for s in range(1, n):
            x = chunk((c + s) % n, Buffer.input, c).reduce(x)
        for s in range(n - 1):
            x = x.copy((c + s) % n, Buffer.input, c)
    XML()
    Check()
