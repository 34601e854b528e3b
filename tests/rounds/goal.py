#!/usr/bin/env python3
"""Reads the GOAL files that tutti writes, with a parser and a simulator of its own: goal.py TUTTI

Every send has one receive of its tag and size, nothing waits for itself, and on a network where every pair has a
wire of its own the time is that of the textbook."""

import re
import subprocess
import sys
from collections import defaultdict

LATENCY, BYTE = 1000, 1  # of a message, of each of its bytes
SIZE = 1 << 20
N = 8
PART = SIZE // N
# Algorithm, collective, bytes that all ranks send together, rounds, bytes of the largest message of each.
CASES = [
    ("ring", "all_reduce", 2 * (N - 1) * SIZE, [PART] * 14),
    ("ring", "all_gather", (N - 1) * SIZE, [PART] * 7),
    ("all-pairs", "all_reduce", 2 * (N - 1) * SIZE, [PART] * 2),
    # What a rank holds goes to all later partners at once, and on wires of their own: not 1, 2, 4 parts in the second half.
    ("halving-doubling", "all_reduce", 2 * (N - 1) * SIZE, [4 * PART, 2 * PART, PART, PART, PART, 2 * PART]),
]


def parsed(text):
    """By rank: operations by label (kind, bytes, peer, tag), and what each requires."""
    lines = [line for line in text.splitlines() if line and not line.startswith("//")]
    ranks = int(re.fullmatch(r"num_ranks (\d+)", lines.pop(0)).group(1))
    operations, requires, rank = {}, defaultdict(set), None
    for line in lines:
        if found := re.fullmatch(r"rank (\d+) {", line):
            rank = int(found.group(1))
        elif line == "}":
            rank = None
        elif found := re.fullmatch(r"(l\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)", line):
            label, kind, size, peer, tag = found.groups()
            assert (rank, label) not in operations and int(peer) in set(range(ranks)) - {rank}, line
            operations[rank, label] = (kind, int(size), int(peer), int(tag))
        elif found := re.fullmatch(r"(l\d+): calc (\d+)", line):
            assert (rank, found.group(1)) not in operations, line
            operations[rank, found.group(1)] = ("calc", int(found.group(2)), None, None)
        else:
            later, earlier = re.fullmatch(r"(l\d+) requires (l\d+)", line).groups()
            assert (rank, later) in operations and (rank, earlier) in operations, line
            requires[rank, later].add((rank, earlier))
    return operations, requires


def matched(operations):
    """The receive of each send."""
    sends, receives = {}, {}
    for at, (kind, size, peer, tag) in operations.items():
        if kind == "calc":
            continue
        key = (at[0], peer, tag) if kind == "send" else (peer, at[0], tag)
        half = sends if kind == "send" else receives
        assert key not in half, f"two messages from {key[0]} to {key[1]} have the tag {tag}"
        half[key] = (at, size)
    assert sends.keys() == receives.keys(), "a message has one side only"
    for key in sends:
        assert sends[key][1] == receives[key][1] > 0, f"the sides of {key} differ in size"
    return {sends[key][0]: receives[key][0] for key in sends}


def makespan(operations, requires, receive_of):
    """Operations begin when what they require is over; each pair of ranks has a wire that messages share."""
    waits = {at: set(requires[at]) for at in operations}
    after = defaultdict(list)
    for at, earlier in waits.items():
        for other in earlier:
            after[other].append(at)
    for send, receive in receive_of.items():
        waits[receive].add(send)
        after[send].append(receive)
    ready = [at for at in operations if not waits[at]]
    begins, wire, ends, arrivals = defaultdict(int), defaultdict(int), {}, {}
    while ready:
        at = min(ready, key=lambda other: begins[other])
        ready.remove(at)
        kind, size, peer, _ = operations[at]
        end = begins[at] + (size if kind == "calc" else 0)
        if kind == "send":
            wire[at[0], peer] = max(wire[at[0], peer], begins[at]) + size * BYTE
            arrivals[receive_of[at]] = wire[at[0], peer] + LATENCY
        end = max(end, arrivals.get(at, 0))
        ends[at] = end
        for other in after[at]:
            if not (kind == "send" and receive_of[at] == other):
                begins[other] = max(begins[other], end)
            waits[other].remove(at)
            if not waits[other]:
                ready.append(other)
    assert len(ends) == len(operations), "operations wait for each other"
    return max(ends.values())


def main():
    tutti = sys.argv[1]
    for algorithm, kind, volume, rounds in CASES:
        text = subprocess.run([tutti, "compile", algorithm, "--collective", kind, "--ranks", str(N), "--to", "goal",
                               "--bytes", str(SIZE), "-q", "-o", "-"], check=True, capture_output=True, text=True).stdout
        operations, requires = parsed(text)
        receive_of = matched(operations)
        sent = sum(size for what, size, _, _ in operations.values() if what == "send")
        assert sent == volume, f"{algorithm} {kind} sends {sent} bytes, expected {volume}"
        time = makespan(operations, requires, receive_of)
        expected = sum(LATENCY + size * BYTE for size in rounds)
        assert time == expected, f"{algorithm} {kind} takes {time}, expected {expected}"
        print(f"{algorithm} {kind}: {len(receive_of)} messages, {time}")


main()
