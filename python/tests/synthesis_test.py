from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
import tutti
from conftest import ROOT

CORNERS = {"topology": {"generate": {"kind": "mesh", "dims": [3, 3], "alpha": 1, "beta": 2}}, "groups": {"corners": [0, 2, 6, 8]},
           "collectives": [{"kind": "all_gather", "group": "corners"}]}
# No search ends by itself before the limit here: the bound is not met.
LONG = ROOT / "instances/dragonfly/dragonfly9x4x4-bc.json"
LIMIT = 60.0


def test_a_schedule_is_verified_and_can_be_saved_and_read(tmp_path: Path) -> None:
    found = tutti.synthesize(CORNERS)
    assert found.status == "optimal" and found.makespan == found.bound == 12 and found.facts["verified"]
    schedule = found.schedule
    assert len(schedule) == found.sends == len(schedule.link) == len(schedule.start) == len(schedule.op)
    assert schedule.chunk.dtype == np.dtype(np.uint32) and schedule.start.dtype == np.dtype(np.int64)
    for name in ("a.schedule.json", "a.tsch"):
        schedule.save(tmp_path / name, found.instance)
        again = tutti.load(tmp_path / name)
        assert isinstance(again, tutti.Schedule) and (again.start == schedule.start).all() and again.makespan == 12
        assert tutti.verify(CORNERS, tmp_path / name).name == "valid"
    with pytest.raises(ValueError, match="read-only"):
        schedule.start[0] = 1
    with pytest.raises(ValueError, match="expected the instance too"):
        schedule.save(tmp_path / "b.tsch")


def test_the_output_is_written_where_it_is_named(tmp_path: Path) -> None:
    found = tutti.synthesize(CORNERS, output=tmp_path / "mine.json", chunks=2)
    assert found.instance.chunks == 8
    assert tutti.verify(found.instance, tmp_path / "mine.json").makespan == found.makespan


def test_a_symmetric_schedule_is_written_out() -> None:
    torus = {"topology": {"generate": {"kind": "torus", "dims": [4, 4]}}, "collectives": [{"kind": "all_gather"}]}
    found = tutti.synthesize(torus, heuristic="symmetry") if "symmetry" in tutti.heuristics() else tutti.synthesize(torus)
    assert len(found.schedule) == found.sends
    assert tutti.verify(torus, found.schedule).name == "valid"


def test_no_schedule_is_an_answer(tmp_path: Path) -> None:
    one_way = {"topology": {"npus": 2, "links": [{"src": 0, "dst": 1, "alpha": 0, "beta": 1}]}, "collectives": [{"kind": "all_gather"}]}
    found = tutti.synthesize(one_way)
    assert found.status == "infeasible" and found.makespan is None and found.error
    with pytest.raises(tutti.InfeasibleError):
        found.schedule
    with pytest.raises(tutti.InfeasibleError):
        tutti.bound(one_way)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(tutti.InputError, match="gredy"):
        tutti.synthesize(CORNERS, method="gredy")
    with pytest.raises(tutti.InputError, match="there is no search option 'nothing'"):
        tutti.synthesize(CORNERS, options={"nothing": 1})
    with pytest.raises(tutti.InputError, match="expected a whole number"):
        tutti.synthesize(CORNERS, options={"repair-trees": 0.5})
    for call in (lambda: tutti.synthesize(CORNERS, output="-"), lambda: tutti.synthesize("-"), lambda: tutti.topology("-"), lambda: tutti.load("-")):
        with pytest.raises(tutti.InputError, match="expected a file; ./- is one called -"):
            call()
    with pytest.raises(tutti.InputError, match="/nowhere/at/all.json: cannot be written"):
        tutti.synthesize(CORNERS, output="/nowhere/at/all.json")


def test_each_bound_has_its_certificate() -> None:
    bounds = tutti.bound(CORNERS)
    assert bounds.best.value == max(each.value for each in bounds.all) == 12
    assert all(each.certificate["type"] for each in bounds.all)


def test_what_progress_raises_ends_the_search() -> None:
    class Enough(Exception):
        pass

    def raises(line: str) -> None:
        raise Enough(line)

    with pytest.raises(Enough):
        tutti.synthesize(LONG, time_limit=LIMIT, progress=raises)


def test_ctrl_c_stops_a_search_while_other_threads_run(tmp_path: Path) -> None:
    # The signal comes from another thread, which runs only if the search has let go of the GIL.
    begun = threading.Event()

    def interrupt() -> None:
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tutti.synthesize(LONG, time_limit=LIMIT, progress=lambda line: begun.set(), output=tmp_path / "found.tsch")
    thread.join()
    # What was found until then is there, and right.
    if (tmp_path / "found.tsch").exists():
        assert tutti.verify(LONG, tmp_path / "found.tsch").name == "valid"


def test_searches_run_at_once_in_several_threads() -> None:
    found: list[tutti.Synthesis] = []
    threads = [threading.Thread(target=lambda: found.append(tutti.synthesize(CORNERS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.makespan for each in found] == [12] * 4


def test_a_batch_is_a_folder_of_rows(tmp_path: Path) -> None:
    tutti.instance(CORNERS).save(tmp_path / "corners.json")
    said: list[str] = []
    run = tutti.batch(tmp_path / "corners.json", results=tmp_path / "results", methods=["greedy"], chunks=[1, 2], report=False, progress=said.append)
    assert run.verified == 2 and run.failed == 0 and [row["asked_chunks"] for row in run.rows] == [1, 2]
    assert (run.folder / "results.jsonl").exists() and said
    with pytest.raises(tutti.InputError):
        tutti.batch(tmp_path / "nothing", results=tmp_path / "more")


def test_ctrl_c_ends_a_batch_that_can_be_resumed(tmp_path: Path) -> None:
    results = tmp_path / "results"

    def interrupt() -> None:
        while not (results / "run.json").exists():
            pass
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tutti.batch(LONG, results=results, time_limit=LIMIT, report=False)
    thread.join()
    # Nothing is left to do but what the interrupt has prevented, which begins anew.
    tutti.instance(CORNERS).save(tmp_path / "corners.json")
    run = tutti.batch(tmp_path / "corners.json", results=tmp_path / "others", report=False)
    assert run.complete
    assert tutti.batch(results=tmp_path / "others", resume=True, report=False).rows == run.rows
