"""The stand-in for msccl: what verbs leave in the places, and what the trace says of them. That plans are right is verified in tests/cli (compile-*).

Runs under pytest, and by itself: python3 msccl_test.py
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import contextlib
import io
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Callable
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tutti.errors import ProgramError
from tutti.msccl.language import *
from tutti.msccl.language import routines
from tutti.msccl.language.collectives import AllGather, AllReduce, AllToAll, Broadcast, Collective, ReduceScatter
from tutti.msccl.topologies import fully_connected, ring

Values = dict[tuple[int, Any, int], Counter[tuple[int, int]]]


def program(collective: Any, **options: Any) -> Any:
    return MSCCLProgram("test", fully_connected(collective.num_ranks), collective, 1, **options)


def refusal(body: Callable[[], object]) -> str:
    try:
        body()
    except ProgramError as error:
        return error.message
    raise AssertionError("nothing was refused")


def contributions(value: Any) -> Counter[tuple[int, int]]:
    chunks = value.chunks if isinstance(value, ReduceChunk) else [] if value is None else [value]
    return Counter((one.origin_rank, one.origin_index) for one in chunks)


def place_in(collective: Any, rank: int, buffer: Any, index: int) -> tuple[int, Any, int]:
    """The one name of a place, written down from the guide: an oracle beside get_buffer_index."""
    k = collective.chunk_factor
    if not collective.inplace or isinstance(buffer, str):
        return rank, buffer, index
    if isinstance(collective, AllGather):
        return (rank, Buffer.output, rank * k + index) if buffer == Buffer.input else (rank, buffer, index)
    shift = rank * k if isinstance(collective, ReduceScatter) else 0
    return (rank, Buffer.input, index + shift) if buffer == Buffer.output else (rank, buffer, index)


def inputs_of(collective: Any) -> int:
    return int(collective.chunk_factor) * (collective.num_ranks if isinstance(collective, (AllToAll, ReduceScatter)) else 1)


def run_trace(text: str, collective: Any) -> Values:
    """What a trace file means: its verbs one after the other."""
    held: Values = {}
    for rank in range(collective.num_ranks):
        for index in range(inputs_of(collective)):
            if not isinstance(collective, Broadcast) or rank == collective.root:
                held[place_in(collective, rank, Buffer.input, index)] = Counter({(rank, index): 1})
    for line in text.splitlines()[2:]:
        verb, src, src_buffer, src_index, dst, dst_buffer, dst_index, count, *_ = line.split()
        words = {"i": Buffer.input, "o": Buffer.output}
        for i in range(int(count)):
            source = place_in(collective, int(src), words.get(src_buffer, src_buffer[2:]), int(src_index) + i)
            target = place_in(collective, int(dst), words.get(dst_buffer, dst_buffer[2:]), int(dst_index) + i)
            held[target] = held[target] + held[source] if verb == "reduce" else held[source]
    return held


def write_random_verbs(dice: random.Random, collective: Any) -> Values:
    """Calls random verbs; returns what they must leave behind."""
    ranks = range(collective.num_ranks)
    held = run_trace("tutti_trace 1\nprogram\n", collective)
    for _ in range(40):
        rank, buffer, index = dice.choice(list(held))
        size = dice.choice([1, 1, 1, 2])
        if any((rank, buffer, index + i) not in held for i in range(size)):
            continue
        to, scratch = dice.choice(ranks), dice.choice(["a", "b"])
        source = chunk(rank, buffer, index, size)
        if dice.random() < 0.4:
            targets = [p for p in held if p != (rank, buffer, index) and all((p[0], p[1], p[2] + i) in held for i in range(size))
                       and not (p[:2] == (rank, buffer) and abs(p[2] - index) < size)]
            if not targets:
                continue
            first = dice.choice(targets)
            target = chunk(*first, size)
            assert target.reduce(source) is target
            for i in range(size):
                there = (first[0], first[1], first[2] + i)
                held[there] = held[there] + held[rank, buffer, index + i]
            continue
        end = max((place[2] + 1 for place in held if place[:2] == (to, scratch)), default=0)
        if buffer == scratch and rank == to:
            continue
        made = source.copy(to, scratch) if dice.random() < 0.5 else source.copy(to, scratch, end)
        assert (made.rank, made.buffer, made.index, made.size) == (to, scratch, end, size)
        for i in range(size):
            held[to, scratch, end + i] = held[rank, buffer, index + i]
    return held


def test_random_verbs_leave_in_buffers_and_trace_what_they_mean() -> None:
    for seed in range(60):
        dice = random.Random(seed)
        kind = dice.choice([AllReduce, AllToAll, AllGather, ReduceScatter, Broadcast])
        collective = kind(dice.randint(2, 4), dice.randint(1, 3), dice.random() < 0.5 and kind is not AllToAll)
        made = program(collective)
        with made:
            expected = write_random_verbs(dice, collective)
            if dice.random() < 0.3:
                made.buffers  # what was read once goes on being right
        assert run_trace(made.trace(), collective) == expected, f"seed {seed}"
        buffers = made.buffers
        found = {place: contributions(buffers[place[0]][place[1]][place[2]]) for place in expected}
        assert found == expected, f"seed {seed}"


def all_reduce(ranks: int, lost: int = 0) -> Any:
    made = program(AllReduce(ranks, 1, True))
    with made:
        total = chunk(0, Buffer.input, 0)
        for rank in range(1, ranks - lost):
            total.reduce(chunk(rank, Buffer.output, 0))
        for rank in range(1, ranks):
            total.copy(rank)
    return made


def test_check_finds_what_is_missing_and_says_so() -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert all_reduce(4).check()
        assert not said.getvalue()
        assert not all_reduce(4, lost=1).check()
    assert said.getvalue().count("is incorrect") == 4 and "origin_rank=3" in said.getvalue()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert not all_reduce(12, lost=1).check()
    assert said.getvalue().count("is incorrect") == 8 and said.getvalue().endswith("and 4 more chunks are incorrect\n")


def test_verbs_are_told_with_the_line_that_called_them() -> None:
    made = program(AllToAll(2, 1, False))
    line = sys._getframe().f_lineno + 3
    with made:
        for rank in range(2):
            chunk(rank, Buffer.input, 0).copy(0, Buffer.output, rank)
            (chunk(rank, Buffer.input, 1)
             .copy(1, "somewhere")
             .copy(1, Buffer.output, rank))
    told = [int(text.rsplit(":", 1)[1]) - line for text in made.trace().splitlines()[2:]]
    assert told == [0, 2, 3, 0, 2, 3] or told == [0, 1, 1, 0, 1, 1]  # of a call over several lines Python 3.10 knows the first one


def test_a_routine_is_told_with_the_line_that_called_it() -> None:
    made = program(AllReduce(3, 3, True))
    with made:
        chunk(0, Buffer.input, 0).copy(1, "s", 0, ch=7)
        line = sys._getframe().f_lineno + 1
        routines.allreduce_ring_inplace(3)
    places = [text.rsplit("@", 1)[1] for text in made.trace().splitlines()[2:]]
    assert len(places) == 1 + 3 * 4 and places[0].endswith(f":{line - 2}") and all(place.endswith(f"msccl_test.py:{line}") for place in places[1:])


def test_a_copy_onto_itself_and_an_empty_place_are_none() -> None:
    with program(AllReduce(2, 2, True)):
        here = chunk(0, Buffer.input, 0)
        assert here.copy(0, Buffer.output, 0) is None and here.copy(0) is None and chunk(0, Buffer.input, 0, 2).copy(0, Buffer.input, 0) is None
        there = here.copy(1, "pad", 2)
        assert chunk(1, "pad", 0) is None and chunk(1, "pad", 2) == there


def test_in_place_an_all_gather_resolves_inputs_with_the_senders_rank() -> None:
    with program(AllGather(3, 2, True)):
        made = chunk(2, Buffer.input, 1).copy(0, Buffer.input, 1)
        assert (made.rank, made.buffer, made.index) == (0, Buffer.output, 5)
        assert chunk(2, Buffer.input, 1) == chunk(2, Buffer.output, 5)


class Swapped(Collective):
    """Calls its buffers by the names of each other."""

    def init_buffers(self) -> list[dict[Any, list[Any]]]:
        return [{Buffer.input: [None, None], Buffer.output: [Chunk(rank, 0), Chunk(rank, 1)]} for rank in range(self.num_ranks)]

    def get_buffer_index(self, rank: int, buffer: Any, index: int) -> tuple[Any, int]:
        return (Buffer.output, 1 - index) if buffer == Buffer.input else (buffer, index)


def test_a_custom_collective_may_rename_buffers_as_it_likes() -> None:
    made = program(Swapped(2, 2, False))
    with made:
        assert chunk(0, Buffer.input, 0) is None
        there = chunk(0, Buffer.output, 0).copy(1, Buffer.input, 1)
        assert (there.buffer, there.index) == (Buffer.output, 0)
    assert made.buffers[1][Buffer.output][0] == Chunk(0, 0)


def test_what_cannot_be_meant_is_refused() -> None:
    with program(AllReduce(2, 2, False)):
        assert "0 or more" in refusal(lambda: chunk(0, Buffer.input, -1)) and "0 or more" in refusal(lambda: chunk(-1, Buffer.input, 0))
        first = chunk(0, Buffer.input, 0)
        assert "0 or more" in refusal(lambda: first.copy(1, "s", -2)) and "which has 2 chunks" in refusal(lambda: first.copy(1, Buffer.output, 2))
        assert "which has 2 chunks" in refusal(lambda: chunk(0, Buffer.input, 0, 2).copy(1, Buffer.output, 1))
        assert "expected an index" in refusal(lambda: first.copy(1, Buffer.output))
        try:
            first.copy(7, Buffer.output, 0)
        except IndexError as error:
            assert str(error) == "there is no rank 7; the program has 2"
        else:
            raise AssertionError("nothing was refused")
    with MSCCLProgram("line", ring(4), AllReduce(4, 1, True), 1):
        assert "no link from rank 0 to rank 2" in refusal(lambda: chunk(0, Buffer.input, 0).copy(2))
        assert "no link from rank 2 to rank 0" in refusal(lambda: chunk(0, Buffer.input, 0).reduce(chunk(2, Buffer.input, 0)))


def test_lower_has_the_steps_of_the_plan() -> None:
    plan = ('<algo name="x" proto="LL" nchannels="1" coll="allreduce" inplace="1"><gpu id="0"><tb id="0" send="1" recv="-1" chan="0">'
            '<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="2" cnt="3" depid="-1" deps="-1" hasdep="0"/></tb></gpu></algo>')
    made = program(AllReduce(2, 1, True))
    with patch.object(MSCCLProgram, "generate_xml", lambda self: plan):
        lowered = made.lower()
    (op,) = lowered.gpus[0].threadblocks[0].ops
    assert (op.inst, op.src.buffer, op.src.index, op.dst.index, op.src.size, op.depends) == (Instruction.send, Buffer.input, 1, 2, 3, [])


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name[5:].replace("_", " "))
