"""All-reduce of two ranks with packets, and an all-gather of three over ports: two plans, the second one as MSCCL++ compiles it by itself."""
import mscclpp
from mscclpp.language import *

with CollectiveProgram("packets", AllReduce(2, 1, True), 2, protocol="LL") as program:
    scratch = [Buffer(rank, 4) for rank in range(2)]
    for rank in range(2):
        far = MemoryChannel(1 - rank, rank)
        data = Rank(rank).get_input_buffer()
        mine, other = data[rank : rank + 1], data[1 - rank : 2 - rank]
        far.put_packets(scratch[1 - rank][0:1], other, tb=0)
        Rank(rank).reduce(mine, [scratch[rank][0:1]], tb=1, packet=True)
        Rank(rank).copy_packets(scratch[rank][1:2], mine, tb=1)
        far.read_put_packets(scratch[1 - rank][2:3], scratch[rank][1:2], tb=1)
        Rank(rank).unpack_packets(other, scratch[rank][2:3], tb=2)
print(program.to_json(indent=None))


def ports(spec):
    n = spec.world_size
    with CollectiveProgram.from_spec(spec) as program:
        next_ = {rank: PortChannel((rank + 1) % n, rank) for rank in range(n)}
        last = {rank: PortChannel((rank - 1) % n, rank) for rank in range(n)}
        for rank in range(n):
            last[rank].signal(tb=0)
            next_[rank].wait(tb=0, data_sync=SyncType.after)
            near, far = Rank(rank).get_output_buffer(), Rank((rank + 1) % n).get_output_buffer()
            for step in range(n - 1):
                i = (rank - step) % n
                put = next_[rank].put_with_signal if step == 0 else next_[rank].put_with_signal_and_flush
                put(far[i : i + 1], near[i : i + 1], tb=0)
                last[rank].wait(tb=0, data_sync=SyncType.after)
    return program


mscclpp.compile(ports, mscclpp.AlgoSpec("ports", AllGather(3, 1, True), 1, 3, True, 1, "Simple"))
