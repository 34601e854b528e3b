"""The import of StableHLO. The texts and numbers are jax's own (make_stablehlo_cases.py); a small evaluator says what an imported program gives.

Reading them needs jaxlib, which nothing else needs: without it these tests are skipped. With TUTTI_STABLEHLO naming a clone of openxla/stablehlo, its parallel
interpreter tests are read, too.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from tensor_meaning import evaluate, part
from tutti import InputError
from tutti.tensor import Program, from_stablehlo

pytest.importorskip("jaxlib.mlir.ir")

DATA = ROOT / "tests/data/stablehlo"
COMMUNICATION = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "shift", "broadcast_from", "reduce_to")
# What the functions say, in their order; in plain jit, what the partial results and shardings demand.
EXPECTED = {
    "adam": ["all_reduce data"],
    "mlp": ["all_reduce tensor"],
    "adam-zero": ["reduce_scatter data", "all_reduce data", "all_gather data"],
    "moe": ["all_to_all expert", "all_to_all expert"],
    "pipeline": ["all_reduce tensor", "shift pipeline"],
    "ring": ["shift data"] * 6,
    "rows": ["all_gather data", "all_to_all data", "reduce_scatter data"],
    "sums": ["all_reduce data tensor", "all_reduce data tensor", "all_reduce tensor", "all_reduce tensor", "all_gather tensor", "all_reduce data tensor"],
    "attention": ["all_reduce tensor"],
    "block-jit": ["all_reduce tensor"],
    "fsdp-jit": ["all_gather data", "all_reduce data", "all_reduce data", "all_gather data"],
}


def communication(program: Program) -> list[str]:
    return [" ".join([value["op"], *(value.get("axes") or [value["axis"]])]) for value in program.to_dict()["values"] if value["op"] in COMMUNICATION]


def test_every_case_is_here() -> None:
    assert {file.stem for file in DATA.glob("*.stablehlo")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_imported_program_gives_what_jax_computed(name: str) -> None:
    program = from_stablehlo((DATA / f"{name}.stablehlo").read_text())
    numbers = json.loads((DATA / f"{name}.numbers.json").read_text())
    assert communication(program) == EXPECTED[name]
    outputs, _ = evaluate(program.to_dict(), {f"arg{number}": argument for number, argument in enumerate(numbers["arguments"])} | program.given)
    assert len(outputs) == len(numbers["results"])
    for output, result in zip(outputs, numbers["results"]):
        assert np.abs(output.reshape(np.shape(result)) - np.array(result)).max() <= 1e-5 * np.abs(result).max()


def test_donated_arguments_are_states() -> None:
    program = from_stablehlo((DATA / "adam-zero.stablehlo").read_text()).to_dict()
    assert [value["id"] for value in program["values"] if value.get("state")] == ["arg1", "arg2", "arg3"]
    assert [value["args"][0] for value in program["values"] if value["op"] == "update"] == ["arg1", "arg2", "arg3"]


BODY = """module @f {{
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%arg0: tensor<4x8xf32>) -> tensor<{result}> {{
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{{"data"}}, {{}}]>] out_shardings=[<@mesh, [{out}]>] manual_axes={{"data"}} (%x: tensor<1x8xf32>) {{
      {body}
    }} : (tensor<4x8xf32>) -> tensor<{result}>
    return %0 : tensor<{result}>
  }}
}}
"""


@pytest.mark.parametrize(("body", "result", "out", "line", "words"), [
    ("%1 = stablehlo.cosine %x : tensor<1x8xf32>\n      sdy.return %1 : tensor<1x8xf32>", "4x8xf32", '{"data"}, {}', 5, "stablehlo.cosine"),
    ("sdy.return %x : tensor<1x8xf32>", "1x8xf32", "{}, {}", 4, "same on all ranks of axis data"),
    ('%1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<1x8xf32>) -> tensor<2x8xf32>\n'
     "      sdy.return %1 : tensor<2x8xf32>", "8x8xf32", '{"data"}, {}', 5, "[[0, 2], [1, 3]]"),
    ("%c = stablehlo.constant dense<1> : tensor<i32>\n      %1 = stablehlo.dynamic_slice %x, %c, %c, sizes = [1, 2] : (tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>\n"
     "      sdy.return %1 : tensor<1x2xf32>", "4x2xf32", '{"data"}, {}', 6, "not each rank's own part"),
])
def test_what_is_not_understood_is_named_with_its_line(body: str, result: str, out: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as error:
        from_stablehlo(BODY.format(body=body, result=result, out=out), file="f.stablehlo")
    assert error.value.file == "f.stablehlo" and error.value.place.split(":")[0] == str(line)


def test_a_text_that_is_no_stablehlo_is_refused_at_its_line() -> None:
    with pytest.raises(InputError) as error:
        from_stablehlo("module {\n  nonsense\n}")
    assert error.value.place.startswith("2:")


STABLEHLO = os.environ.get("TUTTI_STABLEHLO", "")


@pytest.mark.skipif(not STABLEHLO, reason="TUTTI_STABLEHLO names no clone of openxla/stablehlo")
def test_the_parallel_cases_of_stablehlo_are_read_or_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Each device's program, its inputs and its results, as the interpreter's tests say them."""
    right: list[str] = []
    refused: list[str] = []
    for file in sorted(Path(STABLEHLO, "stablehlo/tests/interpret").glob("*.mlir")):
        for module in file.read_text().split("// -----"):
            run = re.search(r'run_parallel"\((.*?)\)\s*\{\s*programs=(\[\[.*?\]\])', module, re.DOTALL)
            if run is None:
                continue
            named = re.search(r"module @(\w+)", module)
            title = f"{file.stem} {named[1] if named else ''}"
            grid = [re.findall(r"@(\w+)", row) for row in re.findall(r"\[([^\[\]]*)\]", run[2])]
            given = {name: (shape, np.array(json.loads(f"{numbers}"))) for name, numbers, shape in re.findall(r"%(\w+) = stablehlo.constant dense<(.*?)> : tensor<(.*?)>", module, re.DOTALL)
                     if re.fullmatch(r"[-\d\s,.\[\]e]+", numbers)}
            expected = {int(number): np.array(json.loads(numbers)) for number, numbers in re.findall(r"expect_(?:eq|almost_eq)_const %results#(\d+), dense<(.*?)> :", module, re.DOTALL)
                        if re.fullmatch(r"[-\d\s,.\[\]e]+", numbers)}
            functions = {name for row in grid for name in row}
            head = re.split(r"func\.func (?:public )?@main", module)[0] + "}"
            mesh = {"replica": len(grid), "partition": len(grid[0])}
            try:
                if len(functions) != 1:
                    raise InputError("different programs on different devices")
                program = from_stablehlo(head, mesh={axis: size for axis, size in mesh.items() if size > 1} or {"replica": 1}, function=functions.pop())
                names = [name.strip().lstrip("%") for name in run[1].split(",") if name.strip()]
                devices = len(grid) * len(grid[0])
                each = len(names) // devices
                ranked = {f"arg{k}": np.array([given[names[device * each + k]][1] for device in range(devices)]) for k in range(each)}
                outputs, layouts = evaluate(program.to_dict(), ranked)
            except (InputError, KeyError) as error:
                refused.append(f"{title}: {error}")
                continue
            for number, numbers in expected.items():
                device, k = divmod(number, len(outputs))
                got = part(outputs[k], layouts[k], program.axes, device)
                assert np.array_equal(got, np.broadcast_to(numbers, got.shape)), (title, number, got, numbers)
            right.append(title)
    with capsys.disabled():
        print(f"\n{len(right)} right: {', '.join(right)}\n{len(refused)} not read:\n  " + "\n  ".join(refused))
    assert len(right) >= 12
