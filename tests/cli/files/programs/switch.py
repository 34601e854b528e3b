"""All-reduce by a switch, slice by slice: args are ranks and instances."""
import sys
from mscclpp.language.channel import *
from mscclpp.language.collectives import AllReduce
from mscclpp.language.general import JSON
from mscclpp.language.loop import LoopIterationContext
from mscclpp.language.program import CollectiveProgram
from mscclpp.language.rank import Rank

ranks, instances = int(sys.argv[1]), int(sys.argv[2])
with CollectiveProgram("switch", AllReduce(ranks, 1, True), ranks, instances):
    switch = SwitchChannel(list(range(ranks)), BufferType.input)
    to = {(a, b): MemoryChannel(b, a) for a in range(ranks) for b in range(ranks) if a != b}
    for rank in range(ranks):
        others = [to[rank, b] for b in range(ranks) if b != rank]
        for channel in others:
            channel.signal(tb=0, relaxed=True)
        for channel in others:
            channel.wait(tb=0, relaxed=True, data_sync=SyncType.after)
        mine = Rank(rank).get_input_buffer()[rank : rank + 1]
        with LoopIterationContext(unit=2**20, num_chunks=1):
            switch.at_rank(rank).reduce(rank, 1, mine, tb=0)
            switch.at_rank(rank).broadcast(mine, rank, 1, tb=0)
        for channel in others:
            channel.signal(tb=0, relaxed=True, data_sync=SyncType.before)
        for channel in others:
            channel.wait(tb=0, relaxed=True)
    print("made for", ranks)
    print(JSON())
