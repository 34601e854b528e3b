#!/usr/bin/env python3
"""Are trees of ForestColl ever shorter than schedules of `tutti synth` in equal chunks?

DIR is a checkout of ForestColl's public code, whose topologies are used (two machines of 8 A100, two of 16 MI250 dies).
Its trees, k for each root, are cut into c chunks each, so a share has k c chunks, and timed by `tutti verify` as an
all-gather and as an all-reduce; `tutti synth` gets the same network, bytes and chunks. The networks' bandwidths are
ForestColl's; its switches and NICs cut through, and latency is 0.5 us a link, 1.5 us on links of InfiniBand. Prints a
Markdown table; exit code 1 if trees were shorter anywhere.

usage: forestcoll.py TUTTI --forestcoll DIR [--chunks 1,4,16] [--trees 1,...|best] [--bytes 1G] [--time-limit 10]
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

KINDS = {"all_gather": "allgather", "all_reduce": "allreduce"}
NANOSECONDS = {False: 500, True: 1500}  # of a link; whether it is InfiniBand's


def names_in_order(trees):
    """Nodes in the order in which the file names them: NPU i is the i-th."""
    names = {}
    for tree in trees.iter("tree"):
        names.setdefault(tree.get("root"))
        for send in tree.iter("send"):
            names.setdefault(send.get("src"))
            names.setdefault(send.get("dst"))
    return list(names)


def topology(graph, npus):
    """Nodes that are no NPUs are switches that cut through."""
    switches = [node for node in map(str, graph.nodes) if node not in npus]
    number = {name: i for i, name in enumerate([*npus, *switches])}
    links = [{"src": number[str(a)], "dst": number[str(b)], "latency_ns": NANOSECONDS["IB" in (a[1], b[1])],
              "bandwidth_GBps": data["capacity"]} for a, b, data in graph.edges(data=True)]
    return {"npus": len(npus), "switches": [{"cut_through": True} for _ in switches], "links": links}


def cut(trees, chunks):
    """Every tree carries so many chunks where it carried one."""
    trees.set("nchunkspernode", str(int(trees.get("nchunkspernode")) * chunks))
    for tree in trees.iter("tree"):
        tree.set("nchunks", str(int(tree.get("nchunks")) * chunks))


def answer(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutti")
    parser.add_argument("--forestcoll", required=True, help="a checkout of the public code")
    parser.add_argument("--chunks", default="1,4,16")
    parser.add_argument("--trees", default="1", help="for each root, or best")
    parser.add_argument("--bytes", default="1073741824")
    parser.add_argument("--time-limit", default="10")
    args = parser.parse_args()
    sys.path.insert(0, args.forestcoll)
    import pipeline_allgather as peer
    import topologies as networks

    shorter = 0
    print("| network | collective | trees for each root | chunks of a share | trees (us) | synth (us) | by | bound (us) | "
          "trees / synth |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("2 x 8 A100", networks.a100_topology), ("2 x 16 MI250", networks.mi250_topology)):
            graph, gpus = make(2)
            for trees in args.trees.split(","):
                fixed = {} if trees == "best" else {"fixed_K": int(trees)}
                with contextlib.redirect_stdout(io.StringIO()):
                    (_, each), (paths, counts) = peer.optimal_pipeline_spanning_trees(graph, compute_nodes=gpus, **fixed)
                text = peer.spanning_trees_to_xml(paths, counts, each)
                npus = names_in_order(ET.fromstring(text))
                network = Path(folder, "network.json")
                network.write_text(json.dumps(topology(graph, npus)))
                for kind, goal in KINDS.items():
                    for chunks in map(int, args.chunks.split(",")):
                        plan = ET.fromstring(text)
                        cut(plan, chunks)
                        file = Path(folder, "trees.xml")
                        file.write_bytes(ET.tostring(plan))
                        theirs = answer([args.tutti, "verify", str(file), "--topology", str(network), "--bytes",
                                         args.bytes, "--as", goal, "--json", "-q"])
                        share = each * chunks
                        instance = Path(folder, "instance.json")
                        instance.write_text(json.dumps({
                            "tutti": 1, "name": instance.stem, "topology": topology(graph, npus), "collectives": [
                                {"kind": kind, "chunks": share, "chunk_bytes": theirs["chunk_bytes"]}]}))
                        ours = answer([args.tutti, "synth", str(instance), "--json", "-q", "-o",
                                       str(Path(folder, "schedule.json")), "--time-limit", args.time_limit])
                        ratio = theirs["makespan"] / ours["makespan"]
                        shorter += ratio < 1
                        print(f"| {name} | {kind} | {each} | {share} | {theirs['makespan'] / 1e6:.1f} | "
                              f"{ours['makespan'] / 1e6:.1f} | {ours.get('heuristic') or ours['method']} | "
                              f"{ours['lower_bound'] / 1e6:.1f} | {ratio:.3f} |"
                              + (" SHORTER" if ratio < 1 else ""), flush=True)
    print(f"\n{shorter} times trees were shorter")
    return 1 if shorter else 0


if __name__ == "__main__":
    sys.exit(main())
