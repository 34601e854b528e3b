"""A reduce-scatter of two ranks; the argument says what is wrong with it."""
import sys
from mscclpp.language import *

what = sys.argv[1]
with CollectiveProgram("misused", ReduceScatter(2, 1, False), 2, instances=2):
    semaphores = [Semaphore(rank, 0) for rank in range(2)]
    for rank in range(2):
        far = MemoryChannel(1 - rank, rank)
        near, there = Rank(rank).get_input_buffer(), Rank(1 - rank).get_input_buffer()
        result = Rank(rank).get_output_buffer()
        far.signal(tb=0, relaxed=True)
        if what == "unpaired":
            far.signal(tb=0, relaxed=True)
        far.wait(tb=0, relaxed=True, data_sync=SyncType.after)
        if what != "deadlock":
            semaphores[rank].release(tb=0)
        semaphores[rank].acquire(tb=1, data_sync=SyncType.after)
        i = 1 - rank if what == "value" else rank
        if what == "rank":
            far.reduce(near[i : i + 1], [near[i : i + 1]], tb=1, local_dst_chunk=result[:])
        if what == "slice":
            near[i : i + 2 * rank + 1]
        far.reduce(near[i : i + 1], [there[i : i + 1]], tb=1, local_dst_chunk=result[:])
        if what == "race":
            Rank(rank).copy(result[:], near[0:1], tb=2)
    print(JSON())
    if what == "forgotten":
        raise SystemExit("no plan after all")
