"""The stand-in for mscclpp: what becomes of a program's operations. That its plans are right is verified in tests/cli (compile-mscclpp).

Runs under pytest, and by itself: python3 mscclpp_test.py
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tutti.errors import ProgramError
from tutti.mscclpp.language import core
from tutti.mscclpp.language import *
from tutti.mscclpp.language.operations import Operand, Operation
from tutti.mscclpp.language.syncs import with_needed_syncs
from tutti.mscclpp.language.types import MisuseError

_FOLDER = tempfile.TemporaryDirectory(prefix="tutti-test-")


def plan_of(program: CollectiveProgram) -> Any:
    core.write_plans_to(Path(_FOLDER.name))
    return json.loads(program.to_json())


def names(operations: list[Any]) -> str:
    """"put nop pipeline(glres)"."""
    return " ".join(op["name"] + (f"({names(op['ops'])})" if "ops" in op else "") for op in operations)


def made(body: Callable[[], None], ranks: int = 2, **options: Any) -> str:
    """The operations of thread block 0 of rank 0."""
    with CollectiveProgram("test", TestCollective(ranks, 8, 8), ranks, **options) as program:
        body()
    return names(plan_of(program)["gpus"][0]["threadblocks"][0]["ops"])


def refusal(body: Callable[[], object]) -> str:
    with CollectiveProgram("test", TestCollective(2, 8, 8), 2):
        try:
            body()
        except MisuseError as error:
            return str(error)
    raise AssertionError("nothing was refused")


def test_puts_of_one_size_are_one_operation() -> None:
    def body(size: int) -> None:
        far, near, there = MemoryChannel(1, 0), Rank(0).get_input_buffer(), Rank(1).get_output_buffer()
        far.put(there[0:1], near[0:1], tb=0)
        far.put(there[1:1 + size], near[1:1 + size], tb=0)

    assert made(lambda: body(1)) == "put"
    assert made(lambda: body(2)) == "put put"
    assert made(lambda: body(1), instr_fusion=False) == "put put"


def test_gets_are_one_operation() -> None:
    def body() -> None:
        far, near, there = MemoryChannel(1, 0), Rank(0).get_input_buffer(), Rank(1).get_output_buffer()
        far.get(near[0:1], there[0:1], tb=0)
        far.get(near[1:2], there[1:2], tb=0)

    assert made(body) == "get"


def test_signals_on_several_channels_are_one_and_two_on_one_channel_stay_two() -> None:
    def body(channels: int) -> None:
        to = [MemoryChannel(1, 0) for _ in range(channels)]
        for channel in (to[0], to[-1]):
            channel.signal(tb=0, data_sync=SyncType.none)
        for channel in (to[0], to[-1]):
            channel.wait(tb=0, data_sync=SyncType.none, relaxed=True)

    assert made(lambda: body(2)) == "signal rlxwait"
    assert made(lambda: body(1)) == "signal signal rlxwait rlxwait"


def test_a_sum_and_where_it_is_put_are_one_operation() -> None:
    def body(remote: bool) -> None:
        far, near, there = MemoryChannel(1, 0), Rank(0).get_input_buffer(), Rank(1).get_output_buffer()
        for i in (1, 2):
            if remote:
                far.reduce(near[0:1], [there[i:i + 1]], tb=0)
            else:
                Rank(0).reduce(near[0:1], [near[i:i + 1]], tb=0)
        far.put(there[0:1], near[0:1], tb=0)

    assert made(lambda: body(False)) == "res"
    assert made(lambda: body(True)) == "rres"


def test_a_sum_of_packets_takes_in_its_copies() -> None:
    def body(steps: int) -> None:
        scratch, there, near = Buffer(0, 4), Buffer(1, 4), Rank(0).get_input_buffer()
        far = MemoryChannel(1, 0)
        Rank(0).reduce(near[0:1], [scratch[0:1]], tb=0, packet=True)
        if steps == 0:
            far.put_packets(there[0:1], near[0:1], tb=0)
        if steps > 0:
            Rank(0).copy_packets(scratch[1:2], near[0:1], tb=0)
        if steps > 1:
            far.read_put_packets(there[1:2], scratch[1:2], tb=0)

    assert [made(lambda: body(steps)) for steps in range(3)] == ["respkt", "recpkt", "recspkt"]


def test_reads_of_the_same_packets_are_put_to_several_ranks_at_once() -> None:
    def body() -> None:
        scratch, there = Buffer(0, 4), [Buffer(1, 4), Buffer(2, 4)]
        for rank in (1, 2):
            MemoryChannel(rank, 0).read_put_packets(there[rank - 1][0:1], scratch[0:1], tb=0)
        Rank(0).unpack_packets(Rank(0).get_output_buffer()[0:1], scratch[0:1], tb=0)

    assert made(body, ranks=3, protocol="LL") == "rppkt upkt"


def test_a_switch_loads_and_stores_in_one_operation_where_the_chunk_is_the_same() -> None:
    def body(i: int) -> None:
        switch, near = SwitchChannel([0, 1], BufferType.input), Rank(0).get_output_buffer()
        switch.at_rank(0).reduce(0, 1, near[0:1], tb=0)
        switch.at_rank(0).broadcast(near[i:i + 1], 0, 1, tb=0)

    assert made(lambda: body(0)) == "glres"
    assert made(lambda: body(1)) == "glre gstore"


def test_ports_put_and_signal_in_one_operation_and_flushes_are_one() -> None:
    def body() -> None:
        ports = [PortChannel(1, 0), PortChannel(1, 0)]
        near, there = Rank(0).get_input_buffer(), Rank(1).get_output_buffer()
        ports[0].put(there[0:1], near[0:1], tb=0)
        ports[0].put_with_signal(there[0:1], near[0:1], tb=0)
        ports[1].put_with_signal_and_flush(there[1:2], near[1:2], tb=0)
        for port in ports:
            port.flush(tb=0, data_sync=SyncType.none)

    assert made(body) == "put pws pwsf flush"


def test_of_two_syncs_with_nothing_between_one_is_left() -> None:
    def body(between: Callable[[], None]) -> None:
        far = MemoryChannel(1, 0)
        far.signal(tb=0)
        between()
        far.wait(tb=0)

    assert made(lambda: body(lambda: None)) == "nop signal nop wait nop"
    assert made(lambda: body(lambda: Rank(0).barrier([0]))) == "nop signal nop wait nop"
    assert made(lambda: body(lambda: Rank(0).barrier([0, 1]))) == "nop signal barrier wait nop"


def test_a_loop_is_a_pipeline_whose_syncs_count() -> None:
    def body() -> None:
        far, near = MemoryChannel(1, 0), Rank(0).get_input_buffer()
        far.signal(tb=0)
        with LoopIterationContext(unit=1 << 20, num_chunks=2):
            far.wait(tb=0)
            Rank(0).copy(near[1:2], near[0:1], tb=0)
            far.signal(tb=0)
        far.wait(tb=0)

    assert made(body) == "nop signal pipeline(nop wait nop copy nop signal nop) wait nop"


def test_a_sync_stands_between_a_write_and_a_read_of_its_places_only() -> None:
    def body(first: int, size: int) -> None:
        near, out = Rank(0).get_input_buffer(), Rank(0).get_output_buffer()
        Rank(0).copy(out[0:2], near[0:2], tb=0)
        Rank(0).copy(out[4:4 + size], out[first:first + size], tb=0)

    assert made(lambda: body(1, 2)) == "copy nop copy"
    assert made(lambda: body(2, 2)) == "copy copy"
    assert made(lambda: body(1, 2), auto_sync=False) == "copy copy"


def test_a_sum_into_what_was_only_read_needs_no_sync_unless_other_threads_read_it() -> None:
    def body(read: Callable[[], None]) -> None:
        read()
        near = Rank(0).get_input_buffer()
        Rank(0).reduce(near[0:2], [near[2:4]], tb=0)

    def near(first: int, size: int) -> Chunk:
        return Rank(0).get_input_buffer()[first:first + size]

    def out(size: int) -> Chunk:
        return Rank(0).get_output_buffer()[0:size]

    assert made(lambda: body(lambda: Rank(0).copy(out(2), near(0, 2), tb=0))) == "copy re"
    assert made(lambda: body(lambda: Rank(0).copy(out(1), near(0, 1), tb=0))) == "copy nop re"
    assert made(lambda: body(lambda: Rank(0).copy(out(2), near(0, 2), tb_group=ThreadBlockGroup([0, 1])))) == "copy nop re"
    assert made(lambda: body(lambda: Rank(0).copy_packets(Buffer(0, 2)[:], near(0, 2), tb=0))) == "cpkt nop re"


def test_needed_syncs_are_those_of_a_place_by_place_model() -> None:
    seed = 20261118
    print("seed", seed)
    numbers = random.Random(seed)
    for _ in range(300):
        operations = []
        for _ in range(numbers.randrange(1, 12)):
            size = numbers.randrange(1, 5)
            source, target = (Operand(buffer, buffer, numbers.randrange(8), size) for buffer in numbers.choices("io", k=2))
            operations.append(Operation("copy", sources=[source], targets=[target]) if numbers.random() < 0.9 else Operation("nop"))
        expected: list[str] = []
        used: dict[tuple[str, int], bool] = {}
        for operation in operations:
            uses = [((operand.buffer, operand.index + i), writes) for writes, operands in ((False, operation.sources), (True, operation.targets))
                    for operand in operands for i in range(operand.size)]
            if any(place in used and (writes or used[place]) for place, writes in uses):
                expected.append("nop")
                used = {}
            if operation.name == "nop":
                used = {}
            for place, writes in uses:
                used[place] = used.get(place, False) or writes
            expected.append(operation.name)
        assert [operation.name for operation in with_needed_syncs(operations)] == expected


def test_instances_have_thread_blocks_channels_and_chunks_of_their_own() -> None:
    with CollectiveProgram("test", TestCollective(2, 4, 4), 2, instances=3) as program:
        Semaphore(0, 1)
        Semaphore(0, 0).release(tb=1)
        far = [MemoryChannel(1, 0), MemoryChannel(1, 0)][1]
        far.put(Rank(1).get_output_buffer()[2:4], Rank(0).get_input_buffer()[0:2], tb=1)
        Rank(0).barrier([0, 1])
    gpu = plan_of(program)["gpus"][0]
    assert (gpu["input_chunks"], gpu["channels"][0]["connected_to"], len(gpu["semaphores"])) == (12, [1] * 6, 6)
    assert [block["id"] for block in gpu["threadblocks"]] == list(range(6))
    third = gpu["threadblocks"][5]
    assert third["channels"] == [{"channel_type": "memory", "channel_ids": [5]}]
    release, put, barrier = (op for op in third["ops"] if op["name"] != "nop")
    assert release["semaphore_ids"] == [5]
    assert (put["src_buff"][0]["index"], put["dst_buff"][0]["index"], put["src_buff"][0]["size"]) == (0 + 2 * 2, 2 * 3 + 2 * 2, 2)
    assert (barrier["barrier_id"], barrier["num_threadblocks"]) == (2, 2)


def test_instances_of_ranges_that_overlap_in_part_lie_in_blocks() -> None:
    with CollectiveProgram("test", AllGather(2, 2, False), 2, instances=2) as program:
        near, out = Rank(0).get_input_buffer(), Rank(0).get_output_buffer()
        Rank(0).copy(out[0:1], near[0:1], tb=0)
        Rank(0).copy(out[1:3], near[0:2], tb=0)  # from one rank's share to the other's: in two pieces
    second = plan_of(program)["gpus"][0]["threadblocks"][1]["ops"]
    places = [(op["src_buff"][0]["index"], op["dst_buff"][0]["index"], op["src_buff"][0]["size"]) for op in second if op["name"] == "copy"]
    assert places == [(2, 2, 1), (2, 3, 1), (3, 6, 1)]


def test_groups_of_thread_blocks_share_an_operation() -> None:
    with CollectiveProgram("test", TestCollective(1, 2, 2), 1) as program:
        Rank(0).copy(Rank(0).get_output_buffer()[:], Rank(0).get_input_buffer()[:], tb_group=ThreadBlockGroup([2, 0]))
    blocks = plan_of(program)["gpus"][0]["threadblocks"]
    assert [[op["tbg_info"] for op in block["ops"]] for block in blocks] == [[{"tb_id": 1, "tbg_size": 2}], [], [{"tb_id": 0, "tbg_size": 2}]]


def test_a_group_of_thread_blocks_shares_what_a_switch_does() -> None:
    with CollectiveProgram("test", AllReduce(2, 1, True), 2) as program:
        switch, near, group = SwitchChannel([0, 1], BufferType.input), Rank(1).get_input_buffer()[0:2], ThreadBlockGroup([0, 1])
        switch.at_rank(1).reduce(0, 2, near, tb_group=group)
        switch.at_rank(1).broadcast(near, 0, 2, tb_group=group)
    blocks = plan_of(program)["gpus"][1]["threadblocks"]
    assert [(names(block["ops"]), block["ops"][0]["tbg_info"]["tb_id"]) for block in blocks] == [("glres", 0), ("glres", 1)]


def test_every_operation_has_the_line_of_the_program() -> None:
    with CollectiveProgram("test", TestCollective(1, 2, 2), 1) as program:
        Rank(0).copy(Rank(0).get_output_buffer()[0:1], Rank(0).get_input_buffer()[0:1], tb=0)
        line = sys._getframe().f_lineno - 1
    plan_of(program)
    lines = json.loads((Path(_FOLDER.name) / f"{program.written}.lines").read_text())["lines"]
    assert lines[0][0][0][0].endswith(f"mscclpp_test.py:{line}")


def test_a_call_that_cannot_be_meant_is_refused() -> None:
    def buffers() -> tuple[BaseBuffer, BaseBuffer]:
        return Rank(0).get_input_buffer(), Rank(1).get_input_buffer()

    def near() -> BaseBuffer:
        return buffers()[0]

    assert "[0:9] are not in the input buffer of rank 0, which has 8" in refusal(lambda: near()[0:9])
    assert "expected a slice" in refusal(lambda: near()[0])  # type: ignore[index]
    assert "expected the first chunk from 0" in refusal(lambda: near()[-1:2])
    assert "expected a rank from 0 to 1, found 2" in refusal(lambda: MemoryChannel(2, 0))
    assert "found one of rank 0" in refusal(lambda: MemoryChannel(1, 0).put(near()[0:1], near()[0:1], tb=0))
    assert "of one size, found 1 and 2" in refusal(lambda: MemoryChannel(1, 0).put(buffers()[1][0:2], near()[0:1], tb=0))
    assert "expected tb or tb_group" in refusal(lambda: Rank(0).copy(near()[0:1], near()[1:2]))
    assert "packets in a scratch buffer" in refusal(lambda: Rank(0).copy_packets(near()[0:1], near()[1:2], tb=0))
    assert "expected a thread block from 0" in refusal(lambda: Rank(0).barrier([0, -1]))
    assert "is not in the switch channel" in refusal(lambda: SwitchChannel([0], BufferType.input).at_rank(1))
    assert "[8:9] are not in the input buffer of rank 0" in refusal(lambda: SwitchChannel([0, 1], BufferType.input).at_rank(0).broadcast(near()[0:1], 8, 1, tb=0))
    assert "expected a SyncType" in refusal(lambda: MemoryChannel(1, 0).wait(0, True))  # type: ignore[arg-type]
    assert "expected distinct thread blocks" in refusal(lambda: ThreadBlockGroup([1, 1]))
    assert "expected chunks to add" in refusal(lambda: Rank(0).reduce(near()[0:1], [], tb=0))


def test_programs_that_were_not_asked_for_are_written_in_the_end_if_they_are_whole() -> None:
    core.write_plans_to(Path(_FOLDER.name))
    try:
        with CollectiveProgram("half", TestCollective(1, 2, 2), 1) as half:
            raise KeyError
    except KeyError:
        pass
    with CollectiveProgram("whole", TestCollective(1, 2, 2), 1) as whole:
        pass
    core.write_remaining()
    assert (half.written, whole.written) == (0, 1)
    assert json.loads((Path(_FOLDER.name) / "1.json").read_text())["name"] == "whole"


def test_a_program_is_around_what_it_describes() -> None:
    try:
        Rank(0)
    except ProgramError as error:
        assert "there is no program here" in str(error)
    else:
        raise AssertionError("nothing was refused")


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name[5:].replace("_", " "))
