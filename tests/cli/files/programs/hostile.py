"""Programs that do what none should; the argument says which."""

import os
import sys

from msccl.language import *
from msccl.language.collectives import AllGather, Collective
from msccl.topologies import *


def gather(instances=1, index=0, name="p", sendtb=-1):
    with MSCCLProgram(name, fully_connected(2), AllGather(2, 1, False), instances):
        for rank in range(2):
            for other in range(2):
                x = chunk(rank, Buffer.input, 0).copy(other, "a b\n%", rank - index, sendtb=sendtb)
                x.copy(other, Buffer.output, rank)
        XML()


class Filled(Collective):
    """Its outputs hold something at first."""

    def init_buffers(self):
        return [{Buffer.input: [Chunk(rank, 0)], Buffer.output: [Chunk(rank, 0)]} for rank in range(2)]

    def check(self, prog):
        return True


what = sys.argv[1]
if what == "negative":
    gather(index=3)
elif what == "word":
    gather(sendtb="many")
elif what == "instances":
    gather(instances=10**9)
elif what == "name":
    gather(name="\x1b[31m\n<&\"")
elif what == "message":
    raise ValueError("first\nsecond \x1b[31m")
elif what == "exit":
    sys.exit("over\nand out")
elif what == "dies":
    os._exit(5)
elif what == "recursion":
    def deeper():
        deeper()
    deeper()
elif what == "megabytes":
    print("z" * 4_000_000, file=open(os.devnull, "w"))
    sys.exit(3)
elif what == "overwrites":
    open("x.xml", "w").write("the program's\n")
    gather()
elif what == "imports itself":
    import hostile
    hostile.nothing()
elif what == "filled":
    with MSCCLProgram("p", fully_connected(2), Filled(2, 1, False), 1):
        chunk(0, Buffer.output, 0).copy(1, Buffer.output, 0)
        XML()
