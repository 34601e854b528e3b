"""A ring all-reduce: written, proven right for every interleaving, compared with the lower bound, and saved for MSCCL."""

import tutti


@tutti.algorithm
def ring(p: tutti.Program, channels: int = 1) -> None:
    n = p.ranks
    for c in range(n):
        x = p.chunk(c, "input", c)
        for s in range(1, n):
            x = p.chunk((c + s) % n, "input", c).reduce(x, ch=c % channels)
        for s in range(n - 1):
            x = x.copy((x.rank + 1) % n, "input", c, ch=c % channels)


def main() -> None:
    network = tutti.topology("ring", npus=8, latency_ns=700, bandwidth_GBps=25)
    for channels in (1, 2, 4):
        plan = ring.compile(tutti.AllReduce(8, chunks=8, in_place=True), channels=channels, target="msccl-executor")
        costs = tutti.cost(plan, network, bytes=["64K", "1M", "64M"])
        times = ", ".join(f"{cost.makespan_us:.1f} us" for cost in costs)
        print(f"{channels} channels: {plan.verdict.name}, {plan.steps} steps, {times}; {costs[-1].gap:.1%} above the bound at 64M")
        plan.save(f"ring_{channels}.xml")


if __name__ == "__main__":
    main()
