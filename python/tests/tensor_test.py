"""Tensor programs built in Python: what the builder writes, and what the functions of the library mean."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_meaning import evaluate
from tutti import InputError
from tutti import tensor as tt


def of(program: tt.Program, inputs: dict[str, object]) -> list[np.ndarray[Any, Any]]:
    outputs, _ = evaluate(program.to_dict(), inputs)
    return [output.reshape(output.shape[len(program.axes):]) for output in outputs]


def test_operators_and_updates_give_the_json_form() -> None:
    p = tt.Program("sgd", sizes={"N": 12}, data=4)
    g = p.input("g", ["N"], layout={"data": "local"})
    w = p.state("w", ["N"], fixed=True)
    total = g.all_reduce("data", name="sum")
    p.update(w, w - 0.5 * total / 4)
    assert p.to_dict() == {
        "tutti_tensor": 1, "name": "sgd", "mesh": {"axes": [["data", 4]]}, "sizes": {"N": 12},
        "values": [
            {"id": "g", "op": "input", "shape": ["N"], "dtype": "f32", "layout": {"data": "local"}},
            {"id": "w", "op": "input", "shape": ["N"], "dtype": "f32", "state": True, "fixed": True},
            {"id": "sum", "op": "all_reduce", "args": ["g"], "axes": ["data"], "reduce": "sum"},
            {"id": "c1", "op": "constant", "value": 0.5, "dtype": "f32"},
            {"id": "mul1", "op": "mul", "args": ["c1", "sum"]},
            {"id": "c2", "op": "constant", "value": 4, "dtype": "f32"},
            {"id": "div1", "op": "div", "args": ["mul1", "c2"]},
            {"id": "sub1", "op": "sub", "args": ["w", "div1"]},
            {"id": "w_out", "op": "update", "args": ["w", "sub1"]},
        ],
        "outputs": ["w_out"],
    }
    assert tt.Program.from_dict(p.to_dict()).to_dict() == p.to_dict()


def test_the_library_means_what_its_names_say() -> None:
    rng = np.random.default_rng(3)
    x, scale, bias = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    p = tt.Program("library", data=2)
    vx, vs, vb = p.input("x", [3, 4], "f64"), p.input("scale", [4], "f64"), p.input("bias", [4], "f64")
    p.output(tt.softmax(vx), tt.layer_norm(vx, vs, vb), tt.gelu(vx), tt.norm(vx), tt.rms_norm(vx, vs), tt.relu(vx), vx @ vs, tt.where(vx > 0, vx, -1.0), vx.mean(), vx.transpose())
    got = of(p, {"x": x, "scale": scale, "bias": bias})
    centred = x - x.mean(1, keepdims=True)
    wanted = [
        np.exp(x) / np.exp(x).sum(1, keepdims=True),
        centred / np.sqrt((centred ** 2).mean(1, keepdims=True) + 1e-5) * scale + bias,
        0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
        np.sqrt((x * x).sum()),
        x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * scale,
        np.maximum(x, 0), x @ scale, np.where(x > 0, x, -1), x.mean(), x.T,
    ]
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_name_given_later_is_the_name_everywhere() -> None:
    p = tt.Program("named", data=2)
    x = p.input("x", [4])
    y = x + x
    z = y * y
    y.named("twice")
    p.output(y, z)
    assert [value["id"] for value in p.to_dict()["values"]] == ["x", "twice", "mul1"]
    assert p.to_dict()["values"][2]["args"] == ["twice", "twice"] and p.to_dict()["outputs"] == ["twice", "mul1"]
    with pytest.raises(InputError, match="taken"):
        z.named("x")


def test_wrong_words_are_said_at_once() -> None:
    p = tt.Program("wrong", data=2)
    x = p.input("x", ["N", 3])
    with pytest.raises(InputError, match="specification"):
        tt.einsum("ab,bc->ac", x)
    with pytest.raises(InputError, match="the size N has no number"):
        x.mean(0)
    with pytest.raises(InputError, match="is taken"):
        p.input("x", [1])


def block() -> tt.Program:
    p = tt.Program("block", sizes={"B": 512, "H": 1024, "K": 4096}, t=4)
    x = p.input("x", ["B", "K"], "f16", layout={"t": 1})
    w = p.input("w", ["K", "H"], "f16", layout={"t": 0})
    total = tt.matmul(x, w, name="mm").all_reduce("t", name="sum")
    p.output(tt.tanh(total + p.input("bias", ["H"], "f16"), name="out"))
    return p


RING: dict[str, Any] = {"generate": {"kind": "ring", "npus": 4, "latency_ns": 500, "bandwidth_GBps": 25}}
DEVICE: dict[str, Any] = {"tutti_device": 1, "name": "toy", "matmul_tflops": 20, "pointwise_tflops": 2, "memory_GBps": 400, "launch_us": 2}


def test_a_program_is_tuned_for_a_network_that_is_not_here(tmp_path: Path) -> None:
    found = block().tune(RING, DEVICE, tmp_path / "tuned", pieces=[4], top=3)
    assert len(found.schedules) == 3 and found.predicted_us < found.facts["unscheduled_us"]
    assert [one["predicted_us"] for one in found.schedules] == sorted(one["predicted_us"] for one in found.schedules)
    assert len(str(found).splitlines()) == 3 and "overlap" in str(found)
    assert (tmp_path / "tuned/timeline.html").exists()
    assert all((tmp_path / "tuned" / one["schedule"]).exists() for one in found.facts["collectives"])


def test_a_device_without_a_rate_that_is_needed_is_refused_with_its_place() -> None:
    with pytest.raises(InputError) as error:
        block().tune(RING, DEVICE | {"matmul_tflops": {"f32": 20}})
    assert error.value.place == "/matmul_tflops" and error.value.file.endswith("device.json")


def test_steps_are_proven_or_refused_with_code_and_words() -> None:
    p = tt.Program("sgd", sizes={"N": 1000}, data=4)
    g, w, m = p.input("g", ["N"], layout={"data": "local"}), p.state("w", ["N"], fixed=True), p.state("m", ["N"])
    m1 = (0.9 * m + g.all_reduce("data", name="sum") / 4).named("m_new")
    p.update(w, w - 0.01 * m1)
    p.update(m, m1)
    q = p.split("sum").reorder("sum.ag").as_slice("m")
    assert q.verify()["verdict"] == "equivalent"
    assert [value["id"] for value in q.transformed["values"] if value["op"] == "reduce_scatter"] == ["sum.rs"]
    for program, step, code in ((p, {"do": "split", "op": "w", "into": "rs_ag"}, "wrong-op"), (p, {"do": "as_slice", "tensor": "m"}, "not-gathered"),
                                (q, {"do": "as_slice", "tensor": "w"}, "fixed-layout")):
        with pytest.raises(tt.Refused) as error:
            program.apply(step)
        assert error.value.code == code and error.value.words


def test_steps_are_said_as_text() -> None:
    steps: list[dict[str, Any]] = [{"do": "split", "op": "sum", "into": "rs_ag", "dim": 0}, {"do": "reorder", "gather": "sum.ag", "ops": "all"}, {"do": "as_slice", "tensor": "m"},
             {"do": "fuse", "ops": ["a", "b"], "name": "k"}, {"do": "overlap", "chain": ["mm", "k"], "pieces": 8}]
    assert [tt.step_text(step) for step in steps] == ["split sum rs_ag", "reorder sum.ag past all", "as_slice m", "fuse k: a b", "overlap mm k pieces 8"]
