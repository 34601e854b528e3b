"""An expert-parallel all-to-all: a random traffic matrix on a small cluster, and how busy the links are."""

import numpy as np
import tutti


def main() -> None:
    cluster = tutti.topology("rail", nodes=2, npus_per_node=4, cut_through=True, node_wire={"latency_ns": 400, "bandwidth_GBps": 450},
                             rail_wire={"latency_ns": 1000, "bandwidth_GBps": 50})
    counts = np.random.default_rng(1).integers(0, 4, size=(cluster.npus, cluster.npus))
    np.fill_diagonal(counts, 0)
    traffic = tutti.instance({"topology": cluster, "collectives": [{"kind": "all_to_all_v", "counts": counts, "chunk_bytes": "1M"}]})
    found = tutti.synthesize(traffic, time_limit=2, method="greedy")
    print(f"{counts.sum()} MiB in {found.makespan_us:.1f} us, at most {found.gap:.1%} above the best there is")
    sends = np.bincount(found.schedule.link, minlength=len(cluster.links))
    busiest = int(sends.argmax())
    print(f"the busiest link, {cluster.links.src[busiest]} -> {cluster.links.dst[busiest]}, takes {sends[busiest]} MiB")


if __name__ == "__main__":
    main()
