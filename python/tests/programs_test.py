from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import tutti
from conftest import ROOT


@tutti.algorithm
def ring(p: tutti.Program, channels: int = 1) -> None:
    n = p.ranks
    for c in range(n):
        x = p.chunk(c, "input", c)
        for s in range(1, n):
            x = p.chunk((c + s) % n, "input", c).reduce(x, ch=c % channels)
        for s in range(n - 1):
            x = x.copy((x.rank + 1) % n, "input", c, ch=c % channels)


@tutti.algorithm
def gather(p: tutti.Program) -> None:
    for r in range(p.ranks):
        for to in range(p.ranks):
            p.chunk(r, "input", 0).copy(to, "output", r)


def two() -> tutti.Program:
    return tutti.Program(tutti.AllReduce(2, chunks=2, in_place=True))


def test_a_program_is_compiled_and_verified(in_empty_folder: Path) -> None:
    plan = ring.compile(tutti.AllReduce(8, chunks=8, in_place=True), channels=2, target="msccl-executor")
    assert (plan.verdict.name, plan.ranks, plan.channels, plan.collective) == ("valid", 8, 2, "all_reduce")
    assert plan.steps and plan.thread_blocks
    plan.save("ring.xml")
    plan.save("ring.chunks")
    plan.save("text", format="msccl-xml")
    assert Path("ring.xml").read_text() == Path("text").read_text() == plan.text
    assert tutti.verify("ring.xml").name == "valid"
    again = tutti.compile("ring.chunks", target="msccl-executor")
    assert (again.text, again.steps) == (plan.text, plan.steps)
    with pytest.raises(tutti.InputError, match="expected a format of msccl-xml, "):
        plan.save("ring.none", format="none")


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("instances", [1, 2])
def test_what_is_asked_of_the_compiler_arrives(instances: int, fusion: bool) -> None:
    plan = ring.compile(tutti.AllReduce(4, chunks=4, in_place=True), instances=instances, protocol="LL", fusion=fusion)
    plain = ring.compile(tutti.AllReduce(4, chunks=4, in_place=True))
    assert plan.steps is not None and plain.steps is not None and plan.verdict.name == "valid" and 'proto="LL"' in plan.text
    assert (plan.steps > plain.steps) == (instances > 1 or not fusion)


def test_every_collective_has_a_program() -> None:
    @tutti.algorithm
    def from_root(p: tutti.Program) -> None:
        for r in range(p.ranks):
            if r != 1:
                p.chunk(1, "input", 0).copy(r)

    @tutti.algorithm
    def to_root(p: tutti.Program) -> None:
        for r in range(p.ranks):
            if r != 1:
                p.chunk(1, "input", 0).reduce(p.chunk(r, "input", 0))

    @tutti.algorithm
    def to_each(p: tutti.Program) -> None:
        for r in range(p.ranks):
            for to in range(p.ranks):
                p.chunk(r, "input", to).copy(to, "output", r)

    @tutti.algorithm
    def reduce_each(p: tutti.Program) -> None:
        for r in range(p.ranks):
            mine = p.chunk(r, "input", r).copy(r, "output", 0)
            for other in range(p.ranks):
                if other != r:
                    mine = mine.reduce(p.chunk(other, "input", r).copy(r, f"from {other}"))

    @tutti.algorithm
    def collect(p: tutti.Program) -> None:
        for r in range(p.ranks):
            p.chunk(r, "input", 0).copy(2, "output", r)

    @tutti.algorithm
    def hand_out(p: tutti.Program) -> None:
        for r in range(p.ranks):
            p.chunk(2, "input", r).copy(r, "output", 0)

    @tutti.algorithm
    def chain(p: tutti.Program) -> None:
        for r in range(p.ranks - 1):
            p.chunk(r, "input", 0).copy(r + 1, "output", 0)

    cases = [(gather, tutti.AllGather(3)), (from_root, tutti.Broadcast(3, in_place=True, root=1)), (to_root, tutti.Reduce(3, in_place=True, root=1)),
             (to_each, tutti.AllToAll(3)), (reduce_each, tutti.ReduceScatter(3)), (collect, tutti.Gather(3, root=2)), (hand_out, tutti.Scatter(3, root=2)),
             (chain, tutti.AllToNext(3))]
    for program, collective in cases:
        plan = program.compile(collective)
        assert plan.facts["verdict"] == "valid" and plan.verdict.is_acceptable and plan.collective == collective.kind, collective


def test_a_stale_reference_is_refused_with_the_line_that_uses_it() -> None:
    p = two()
    x = p.chunk(0, "input", 0)
    p.chunk(0, "input", 0).reduce(p.chunk(1, "input", 0))

    def uses_it() -> None:
        x.copy(1)

    with pytest.raises(tutti.ProgramError) as caught:
        uses_it()
    assert (caught.value.line, Path(caught.value.file).name) == (inspect.getsourcelines(uses_it)[1] + 1, "programs_test.py")
    assert "stale" in caught.value.message and caught.value.code == "program-error"


def test_a_line_is_that_of_the_verb_also_in_a_function_of_the_program() -> None:
    p = two()

    def helper() -> None:
        p.chunk(0, "output", 5)

    with pytest.raises(tutti.ProgramError) as caught:
        helper()
    assert caught.value.line == inspect.getsourcelines(helper)[1] + 1


@pytest.mark.parametrize(("verb", "words"), [
    (lambda p: p.chunk(2, "input", 0), "there is no rank 2"),
    (lambda p: p.chunk(-1, "input", 0), "expected a rank of 0 or more, found -1"),
    (lambda p: p.chunk(0, "input", 2), r"input\[2\] is outside of the buffer, which has 2 chunks"),
    (lambda p: p.chunk(0, "inptu", 0), "there is no buffer 'inptu'; there are input, output"),
    (lambda p: p.chunk(0, "input", 0, 0), "expected a size of 1 or more"),
    (lambda p: p.chunk(0, "input", 0).copy(7), "there is no rank 7"),
    (lambda p: p.chunk(0, "input", 0).copy(1, "output"), "expected an index"),
    (lambda p: p.chunk(0, "input", 0).copy(1, "input", 9), "outside of the buffer"),
    (lambda p: p.chunk(0, "input", 0).copy(1, "", 0), "there is no buffer ''"),
    (lambda p: p.chunk(0, "input", 0, 2).reduce(p.chunk(1, "input", 0)), "1 chunks cannot be added to 2"),
    (lambda p: p.chunk(0, "input", 0).reduce(p.chunk(0, "input", 0)), "overlaps"),
    (lambda p: p.chunk(0, "input", 0).reduce(two().chunk(1, "input", 0)), "different programs"),
    (lambda p: p.chunk(0, "input", 0, 2).split(3), "2 chunks cannot be split into 3"),
    (lambda p: p.chunk(0, "input", 0).group(p.chunk(1, "input", 1)), "only neighbouring chunks"),
])  # fmt: skip
def test_a_verb_that_cannot_be_meant_is_refused(verb: object, words: str) -> None:
    assert callable(verb)
    with pytest.raises(tutti.ProgramError, match=words) as caught:
        verb(two())
    assert Path(caught.value.file).name == "programs_test.py" and caught.value.line > 0


def test_parts_and_neighbours_are_references() -> None:
    p = two()
    first, second = p.chunk(0, "input", 0, 2).split(2)
    assert (second.rank, second.buffer, second.index, second.size) == (0, "input", 1, 1)
    both = second.group(first)
    assert (both.index, both.size) == (0, 2)
    kept = both.copy(1, "kept")
    assert (kept.buffer, kept.index, kept.size) == ("kept", 0, 2)
    assert both.copy(1, "kept").index == 2
    assert p.verbs == 2 and b"copy" in p.trace()


def test_a_program_that_is_no_collective_is_refused_with_what_is_wrong() -> None:
    with pytest.raises(tutti.ProgramError) as caught:
        ring.compile(tutti.AllGather(4, chunks=4))
    assert caught.value.code in ("check-failed", "program-error")

    @tutti.algorithm
    def nothing(p: tutti.Program) -> None:
        pass

    with pytest.raises(tutti.ProgramError, match="no all_reduce") as caught:
        nothing.compile(tutti.AllReduce(2))
    assert caught.value.code == "check-failed"


def test_thread_blocks_that_contradict_each_other_are_refused_with_a_line() -> None:
    @tutti.algorithm
    def manual(p: tutti.Program) -> None:
        for r in range(1, 3):
            p.chunk(0, "input", 0).copy(r, sendtb=0, recvtb=0, ch=0)

    with pytest.raises(tutti.ProgramError, match="programs_test.py"):
        manual.compile(tutti.Broadcast(3, in_place=True), policy="manual")


def test_parameters_are_checked() -> None:
    with pytest.raises(tutti.InputError, match="ring: .*unexpected keyword argument 'chanels'"):
        ring.compile(tutti.AllReduce(4, chunks=4, in_place=True), chanels=2)
    with pytest.raises(tutti.InputError, match="expected a policy"):
        ring.compile(tutti.AllReduce(4, chunks=4, in_place=True), policy="odd")
    with pytest.raises(tutti.InputError, match="expected a protocol of Simple, LL, LL128"):
        ring.compile(tutti.AllReduce(4, chunks=4, in_place=True), protocol="odd")
    with pytest.raises(tutti.InputError, match="expected a target"):
        ring.compile(tutti.AllReduce(4, chunks=4, in_place=True), target="odd")
    with pytest.raises(tutti.InputError, match="cannot be called target"):

        @tutti.algorithm
        def wrong(p: tutti.Program, target: int) -> None:
            pass

    with pytest.raises(tutti.InputError):
        tutti.Program(tutti.AllReduce(0))
    with pytest.raises(tutti.InputError, match="ranks: expected a whole number of 0 or more, found -1"):
        tutti.Program(tutti.AllReduce(-1))
    with pytest.raises(tutti.InputError, match="expected 1 to 1048576 ranks"):
        tutti.Program(tutti.AllReduce(1 << 31))


def test_files_are_compiled_as_the_command_does(in_empty_folder: Path) -> None:
    program = in_empty_folder / "program.py"
    program.write_text(
        "import sys\n"
        "from msccl.language import *\n"
        "from msccl.topologies import *\n"
        "from msccl.language.collectives import AllGather\n"
        "n = int(sys.argv[1])\n"
        "with MSCCLProgram('direct', fully_connected(n), AllGather(n, 1, False), 1):\n"
        "    for r in range(n):\n"
        "        for to in range(n): chunk(r, Buffer.input, 0).copy(to, Buffer.output, r)\n"
        "    XML()\n"
        "    if len(sys.argv) > 2: XML()\n")
    plan = tutti.compile(program, arguments=["3"])
    assert plan.verdict.name == "valid" and plan.ranks == 3
    with pytest.raises(tutti.ProgramError, match="2 plans"):
        tutti.compile(program, arguments=["3", "twice"])
    library = tutti.compile("ring", ranks=4, parameters={"channels": 2}, in_place=True)
    assert library.verdict.name == "valid" and library.channels == 2
    with pytest.raises(tutti.InputError):
        tutti.compile("ring", ranks=1)


def test_a_plan_is_timed_where_it_runs(in_empty_folder: Path) -> None:
    plan = ring.compile(tutti.AllReduce(4, chunks=4, in_place=True))
    network = tutti.topology("ring", npus=4, latency_ns=500, bandwidth_GBps=50)
    cost = plan.time(network, bytes="64M")
    assert cost.makespan_us == cost.makespan / 1e6 and cost.bytes == 64 << 20 and cost.bound and cost.gap is not None
    assert [each.bytes for each in tutti.cost(plan, network, bytes=["1M", 1024])] == [1024, 1 << 20]
    assert tutti.cost(plan, network, bytes=["1M"])[0].bytes == 1 << 20
    abstract = plan.time(tutti.topology("ring", npus=4))
    assert abstract.makespan_us is None and abstract.makespan > 0
    swapped = plan.time(network, bytes="64M", group=[0, 2, 1, 3])
    assert swapped.makespan > cost.makespan
    with pytest.raises(tutti.InputError, match="size of the call"):
        plan.time(network)
    with pytest.raises(tutti.InputError):
        plan.time(tutti.topology("ring", npus=3), bytes=1)


def test_wrong_plans_are_answers_until_a_right_one_is_needed(tmp_path: Path) -> None:
    wrong = ROOT / "tests/data/msccl-xml/negatives/lost_war_dependency__alltoall_a100_two_step__2_2.xml"
    verdict = tutti.verify(wrong)
    assert verdict.name == "invalid" and not verdict.is_acceptable
    assert verdict.violations[0].code == "race" and verdict.violations[0].place["gpu"] == 3
    with pytest.raises(tutti.PlanError, match="race") as caught:
        tutti.cost(wrong, tutti.topology("fully_connected", npus=4))
    assert caught.value.verdict is not None and caught.value.verdict.name == "invalid"
    loaded = tutti.load(wrong)
    assert isinstance(loaded, tutti.Plan) and loaded.verdict.name == "invalid"
    (tmp_path / "none.xml").write_text("<algo")
    assert tutti.verify(tmp_path / "none.xml").name == "malformed"
    with pytest.raises(tutti.InputError):
        tutti.load(tmp_path / "none.xml")
    with pytest.raises(tutti.InputError, match="no such file"):
        tutti.verify(tmp_path / "nothing.xml")


def test_a_schedule_becomes_plans() -> None:
    corners = tutti.instance({"topology": {"generate": {"kind": "mesh", "dims": [2, 2]}}, "collectives": [{"kind": "all_gather"}, {"kind": "all_reduce"}]})
    found = tutti.synthesize(corners, time_limit=2)
    for to in ("msccl-xml", "mscclpp-json"):
        made = tutti.convert(corners, found.schedule, to)
        assert [plan.verdict.is_acceptable for plan in made.plans] == [True, True] and made.files == []
    broken = tutti.Schedule.of(found.schedule.chunk[1:], found.schedule.link[1:], found.schedule.start[1:], found.schedule.op[1:], makespan=found.schedule.makespan)
    with pytest.raises(tutti.PlanError) as caught:
        tutti.convert(corners, broken)
    assert caught.value.verdict is not None and caught.value.verdict.violations
