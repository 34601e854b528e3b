"""Plans on numpy arrays, against numpy."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import tutti
from tutti import InputError, PlanError


def inputs(ranks: int, count: int, dtype: Any = np.float32) -> list[Any]:
    generator = np.random.default_rng(7)
    return [generator.integers(-9, 9, count).astype(dtype) for _ in range(ranks)]


def all_reduce(ranks: int = 4, in_place: bool = True) -> tutti.Plan:
    @tutti.algorithm
    def ring(p: tutti.Program) -> None:
        n = p.ranks
        for c in range(n):
            x = p.chunk(c, "input", c)
            for s in range(1, n):
                x = p.chunk((c + s) % n, "input", c).reduce(x)
            for s in range(n - 1):
                x = x.copy((c + s) % n, "input", c)

    return ring.compile(tutti.AllReduce(ranks, chunks=ranks, in_place=in_place))


@pytest.fixture(scope="module")
def ring() -> tutti.Plan:
    return all_reduce()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("count", [1, 17, 1000])
def test_an_all_reduce_adds_up_in_place(ring: tutti.Plan, dtype: str, count: int) -> None:
    arrays = inputs(4, count, dtype)
    expected = np.sum(arrays, axis=0, dtype=dtype)
    for engine in ("pieces", "streams"):
        copies = [array.copy() for array in arrays]
        ring.run(copies, engine=engine)
        for array in copies:
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(("op", "expected"), [("max", np.max), ("min", np.min), ("prod", np.prod), ("avg", np.mean)])
def test_operators(ring: tutti.Plan, op: str, expected: Any) -> None:
    arrays = inputs(4, 33, np.float64)
    result = expected(arrays, axis=0)
    ring.run(arrays, op=op)
    np.testing.assert_array_equal(arrays[3], result)


def test_an_all_gather_out_of_place_leaves_its_inputs_alone() -> None:
    @tutti.algorithm
    def direct(p: tutti.Program) -> None:
        for r in range(p.ranks):
            for to in range(p.ranks):
                p.chunk(r, "input", 0).copy(to, "output", r)

    plan = direct.compile(tutti.AllGather(3, chunks=1, in_place=False))
    arrays = inputs(3, 10)
    before = [array.copy() for array in arrays]
    out = [np.zeros(30, np.float32) for _ in range(3)]
    plan.run(arrays, out=out)
    for array in out:
        np.testing.assert_array_equal(array, np.concatenate(before))
    np.testing.assert_array_equal(arrays, before)
    with pytest.raises(InputError, match="the output of rank 1: expected 30 elements, found 20"):
        plan.run(arrays, out=[out[0], out[1][:20], out[2]])
    with pytest.raises(InputError, match="cannot be called in place"):
        plan.run(out)


def test_an_all_gather_in_place_has_each_input_in_its_output() -> None:
    plan = tutti.compile("ring", ranks=3, collective="all_gather", in_place=True)
    arrays = [np.zeros(30, np.int32) for _ in range(3)]
    for rank, array in enumerate(arrays):
        array[10 * rank : 10 * rank + 10] = rank + 1
    plan.run(arrays)
    for array in arrays:
        np.testing.assert_array_equal(array, np.repeat([1, 2, 3], 10))


def test_a_reduce_scatter_in_place_leaves_each_share_in_its_input() -> None:
    plan = tutti.compile("ring", ranks=3, collective="reduce_scatter", in_place=True)
    arrays = inputs(3, 33)
    expected = np.sum(arrays, axis=0)
    plan.run(arrays)
    for rank, array in enumerate(arrays):
        np.testing.assert_array_equal(array[11 * rank : 11 * rank + 11], expected[11 * rank : 11 * rank + 11])


def test_bfloat16(ring: tutti.Plan) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    arrays = inputs(4, 65, ml_dtypes.bfloat16)
    expected = np.sum([array.astype(np.float32) for array in arrays], axis=0)
    ring.run(arrays)
    np.testing.assert_array_equal(arrays[2].astype(np.float32), expected)


def test_arrays_that_do_not_fit_are_refused(ring: tutti.Plan) -> None:
    arrays = inputs(4, 8)
    locked = [array.copy() for array in arrays]
    locked[1].flags.writeable = False
    wrong: list[tuple[Any, str]] = [
        (arrays[:3], "the plan has 4 ranks; expected as many arrays, found 3"),
        ([*arrays[:3], arrays[3][:5]], "the array of rank 3: expected 8 elements, found 5"),
        ([array.astype(np.uint16) for array in arrays], "found uint16; expected float16 or"),
        ([array.astype(np.complex64) for array in arrays], "found complex64"),
        ([*arrays[:3], arrays[3].astype(np.float64)], "arrays of one type, found float32, float64"),
        ([np.zeros(16, np.float32)[::2] for _ in range(4)], "rank 0 is not contiguous"),
        (locked, "rank 1 is read-only"),
        ([arrays[0], arrays[1], arrays[2], arrays[2]], "share memory"),
        ([[1.0], [2.0], [3.0], [4.0]], "expected numpy arrays, one of each rank, found list"),
    ]
    for given, message in wrong:
        with pytest.raises(InputError, match=message):
            ring.run(given)
    with pytest.raises(InputError, match="expected one of the operators sum, prod"):
        ring.run(arrays, op="mean")
    with pytest.raises(InputError, match="expected the engine pieces or streams"):
        ring.run(arrays, engine="fast")


def test_a_wrong_plan_does_not_run(ring: tutti.Plan, in_empty_folder: Any) -> None:
    broken = in_empty_folder / "broken.xml"
    broken.write_text(ring.text.replace('type="s"', 'type="nop"', 1))
    plan = tutti.load(broken)
    assert isinstance(plan, tutti.Plan)
    with pytest.raises(PlanError):
        plan.run(inputs(4, 8))


def test_threads_of_python_may_call_at_once(ring: tutti.Plan) -> None:
    arrays = [inputs(4, 5000) for _ in range(4)]
    expected = np.sum(arrays[0], axis=0)
    threads = [threading.Thread(target=ring.run, args=(own,)) for own in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own in arrays:
        np.testing.assert_array_equal(own[1], expected)
