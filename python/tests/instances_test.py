from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tutti
from conftest import ROOT

RING = {"generate": {"kind": "ring", "npus": 4, "alpha": 1, "beta": 2}}


def test_a_matrix_of_numpy_is_the_counts_of_an_all_to_all_v() -> None:
    counts = np.array([[0, 2, 0, 1], [1, 0, 0, 0], [0, 3, 0, 0], [1, 1, 1, 0]])
    made = tutti.instance({"topology": RING, "collectives": [{"kind": "all_to_all_v", "counts": counts}]})
    routed = np.zeros((4, 4), dtype=int)
    for chunk in range(made.chunks):
        (sender,), (receiver,) = made.holders(chunk), made.receivers(chunk)
        routed[sender, receiver] += 1
    assert (routed == counts).all()
    assert tutti.synthesize(made, time_limit=5).status == "optimal"


def test_numbers_of_numpy_are_numbers() -> None:
    made = tutti.instance({"topology": RING, "collectives": [{"kind": "broadcast", "root": np.int64(2), "chunks": np.uint8(3)}]})
    assert made.chunks == 3 and made.holders(0) == [2]


def test_every_instance_of_the_repository_reads_back_as_itself() -> None:
    for file in sorted((ROOT / "instances/custom").glob("*.json")):
        made = tutti.instance(file)
        assert tutti.instance(made.to_dict()).to_dict() == made.to_dict(), file


def test_chunks_and_bytes_take_the_place_of_what_the_instance_says() -> None:
    physical = {"generate": {"kind": "ring", "npus": 4, "latency_ns": 500, "bandwidth_GBps": 50}}
    made = tutti.instance({"topology": physical, "collectives": [{"kind": "all_gather", "chunk_bytes": "1M"}]})
    assert set(made.chunk_bytes.tolist()) == {1 << 20}
    varied = tutti.instance(made, chunks=2, bytes="64K")
    assert varied.chunks == 8 and set(varied.chunk_bytes.tolist()) == {(64 << 10) // 8}


def test_wrong_input_names_file_and_place(tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps({"tutti": 1, "topology": RING, "collectives": [{"kind": "broadcast", "root": 7}]}))
    with pytest.raises(tutti.InputError) as caught:
        tutti.instance(file)
    assert caught.value.file == str(file) and caught.value.place == "/collectives/0/root"
    assert str(file) in str(caught.value) and isinstance(caught.value, tutti.Error)
    with pytest.raises(tutti.InputError, match="no such file|cannot be"):
        tutti.instance(tmp_path / "nothing.json")
    with pytest.raises(tutti.InputError, match="expected what JSON can say"):
        tutti.instance({"topology": RING, "collectives": [{"kind": object()}]})
    with pytest.raises(tutti.InputError, match="1.5X"):
        tutti.instance(tmp_path / "wrong.json", bytes="1.5X")


def test_a_topology_is_made_of_a_kind_a_file_or_a_dict(tmp_path: Path) -> None:
    made = tutti.topology("mesh", dims=[2, 3], alpha=1, beta=2)
    assert made.npus == 6 and len(made.links) == 14 and not made.is_physical
    made.save(tmp_path / "mesh.json")
    for other in (tutti.topology(tmp_path / "mesh.json"), tutti.topology(made.to_dict()), tutti.topology({"kind": "mesh", "dims": np.array([2, 3]), "alpha": 1, "beta": 2})):
        assert other.to_dict() == made.to_dict()
    with pytest.raises(tutti.InputError, match="did you mean"):
        tutti.topology("mehs")
    with pytest.raises(tutti.InputError, match="unknown field"):
        tutti.topology("mesh", dimz=3)


def test_matrices_of_a_topology_agree_with_its_links() -> None:
    made = tutti.topology({"npus": 3, "links": [{"src": 0, "dst": 1, "alpha": 1, "beta": 5}, {"src": 0, "dst": 1, "alpha": 3, "beta": 2},
                                                {"src": 2, "dst": 0, "alpha": 0, "beta": 1}]})
    assert made.matrix().tolist() == [[0, 2, 0], [0, 0, 0], [1, 0, 0]]
    assert made.matrix("beta")[0, 1] == 2 and made.matrix("alpha")[0, 1] == 1 and np.isinf(made.matrix("beta")[1, 0])
    with pytest.raises(tutti.InputError, match="expected links, bandwidth, alpha or beta"):
        made.matrix("speed")
