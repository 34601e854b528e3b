#!/usr/bin/env python3
"""Tensor programs on real data: tensor.py TUTTI [--rounds N] [--calls N] [--skip adam,overlap] [--blocks LIST]

Prints, as Markdown, what `tutti run PROGRAM SCHEDULE` takes on two ranks of this machine:
Adam beside MPI's all-reduce with one loop for each operation, and with one loop for all, in the same rounds; and a
matrix product with an all-reduce, bias, dropout and residual on an emulated link whose messages take as long as the
product, with what was predicted. Ratios are of paired rounds: median [quartiles]. Every schedule's result is compared with what
its program means once, at sizes that divide nothing, and on links that of the overlap at the size that is measured;
runs that are timed are not."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
POINTWISE = "mean mul1 mul2 m_new mul3 mul4 mul5 v_new div1 div2 mul6 sqrt1 add1 div3 w_new"
ADAM = {
    "as written": None,
    "AR, fused": f"fuse step: {POINTWISE}\n",
    "RS, fused, AG": f"split sum rs_ag dim 0\nreorder sum.ag past all\nas_slice m v\nfuse step: {POINTWISE}\n",
    "fuse(RS-C-AG)": f"split sum rs_ag dim 0\nreorder sum.ag past all\nas_slice m v\nfuse step: sum.rs {POINTWISE} w_new.ag\n",
}
REORDERED = "split sum rs_ag dim 0\nreorder sum.ag past all\n"
TAIL = "fuse tail: sum.rs biased scaled dropped out out.ag\n"
BLOCK = {
    "as written": None,
    "MM, AR, C": "fuse tail: biased scaled dropped out\n",
    "MM, RS, C, AG": REORDERED + "fuse tail: biased scaled dropped out\n",
    "MM, fuse(RS-C-AG)": REORDERED + TAIL,
    "ol(MM, AR)": "fuse tail: biased scaled dropped out\noverlap mm sum pieces 8\n",
    "ol(MM, fuse(RS-C-AG)), 4 pieces": REORDERED + TAIL + "overlap mm tail pieces 4\n",
    "ol(MM, fuse(RS-C-AG)), 8 pieces": REORDERED + TAIL + "overlap mm tail pieces 8\n",
    "ol(MM, fuse(RS-C-AG)), 16 pieces": REORDERED + TAIL + "overlap mm tail pieces 16\n",
}
FUSED, OVERLAPPED = "MM, fuse(RS-C-AG)", "ol(MM, fuse(RS-C-AG)), 8 pieces"


def quartiles(numbers):
    if len(numbers) == 1:
        return numbers * 3
    low, middle, high = statistics.quantiles(numbers, n=4, method="inclusive")
    return low, middle, high


def shown(numbers, form="{:.2f}"):
    low, middle, high = (form.format(number) for number in quartiles(numbers))
    return f"{middle} [{low}-{high}]"


def output_of(command):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr}")
    return json.loads(result.stdout)


class Bench:
    def __init__(self, options, folder):
        self.tutti, self.rounds, self.calls, self.folder = Path(options.tutti).resolve(), options.rounds, options.calls, folder
        self.blocks = [tuple(map(int, one.split(":"))) for one in options.blocks.split(",")]

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def answer(self, program, schedule, *more):
        files = [program] if schedule is None else [program, self.file("schedule.txt", schedule)]
        return output_of([self.tutti, "run", *files, "--json", "--quiet", *more])

    def run(self, program, schedule, *more):
        return self.answer(program, schedule, "--iterations", self.calls, "--no-reference", *more)

    def compare(self, program, schedule, *more):
        answer = self.answer(program, schedule, *more)
        assert answer["verdict"] == "right", answer


def adam(bench):
    compiled = bench.folder / "adam_mpi"
    if not shutil.which("mpicxx") or not shutil.which("mpirun"):
        print("There is no MPI here.\n")
        return
    subprocess.run(["mpicxx", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-o", compiled, SOURCE / "tests/bench/adam_mpi.cpp"], check=True)
    program = json.loads((SOURCE / "examples/tensor/adam.json").read_text())
    program["mesh"] = {"axes": [["data", 2]]}
    small = bench.file("adam.json", {**program, "sizes": {"N": 12347}})
    for how in ("compiled", "tiles"):
        for schedule in ADAM.values():
            bench.compare(small, schedule, "--kernels", how)
    lines, shares = [], {}
    for name, size in (("64k", 1 << 16), ("1M", 1 << 20), ("4M", 1 << 22)):
        file = bench.file("adam.json", {**program, "sizes": {"N": size}})
        variants = [(form, "compiled") for form in ADAM] + [("fuse(RS-C-AG)", "tiles")]
        times = {variant: [] for variant in variants}
        mpi = {"loops": [], "fused": []}
        version, share = "", []
        for _ in range(bench.rounds):
            peer = output_of(["mpirun", "-n", 2, compiled, size, bench.calls])
            version = peer["version"]
            for kind in mpi:
                mpi[kind].append(statistics.median(peer[kind]))
            for form, how in variants:
                times[form, how].append(bench.run(file, ADAM[form], "--kernels", how)["seconds"] * 1e6)
            # Of its half a rank reads five arrays and writes four.
            bytes_per_us = size / 2 * 4 * 9 / times["fuse(RS-C-AG)", "compiled"][-1]
            share.append(bytes_per_us / (peer["triad_bytes"] / statistics.median(peer["triad_us"])))
        shares[name] = share
        for form, how in variants:
            pairs = [[theirs / ours for theirs, ours in zip(mpi[kind], times[form, how])] for kind in ("loops", "fused")]
            lines.append(f"| {name} | {form}, {how} | {shown(times[form, how], '{:.0f}')} | {shown(pairs[0])} | {shown(pairs[1])} |")
        tiles = [a / b for a, b in zip(times["fuse(RS-C-AG)", "tiles"], times["fuse(RS-C-AG)", "compiled"])]
        lines.append(f"| {name} | tiles / compiled | {shown(tiles)} | | |")
    print(f"Adam, f32, 2 ranks, {bench.rounds} rounds of {bench.calls} calls: microseconds of a call, and the time of MPI_Allreduce ({version}) with one loop for each operation, "
          "and with one loop for all, by ours.\n")
    print("| elements | schedule | us | MPI + loops / ours | MPI + one loop / ours |\n| --- | --- | --- | --- | --- |")
    print("\n".join(lines), flush=True)
    print("\nfuse(RS-C-AG), compiled: bytes that it reads and writes per second, by those of a triad on both cores in the same round: "
          + "; ".join(f"{name} {shown(share)}" for name, share in shares.items()) + ".")
    folder = bench.folder / "cache"
    os.environ["XDG_CACHE_HOME"] = str(folder)
    seconds = []
    for _ in range(bench.rounds):
        shutil.rmtree(folder, ignore_errors=True)
        seconds.append(bench.run(file, ADAM["fuse(RS-C-AG)"], "--kernels", "compiled").get("compile_seconds", 0))
    del os.environ["XDG_CACHE_HOME"]
    print(f"\nCompiling its kernel: {shown(seconds)} s.\n", flush=True)


def block(rows):
    def value(name, op, **more):
        return {"id": name, "op": op, **more}

    sliced = {"tensor": {"sliced": 1}}, {"tensor": {"sliced": 0}}
    return {"tutti_tensor": 1, "name": "block", "mesh": {"axes": [["tensor", 2]]}, "sizes": {"B": rows, "K": 2048, "H": 1024}, "values": [
        value("x", "input", dtype="f32", shape=["B", "K"], layout=sliced[0]), value("w", "input", dtype="f32", shape=["K", "H"], layout=sliced[1]),
        value("b", "input", dtype="f32", shape=["H"]), value("r", "input", dtype="f32", shape=["B", "H"]),
        value("mm", "einsum", args=["x", "w"], spec="bk,kh->bh"), value("sum", "all_reduce", args=["mm"], axes=["tensor"], reduce="sum"),
        value("biased", "add", args=["sum", "b"]), value("mask", "uniform", dtype="f32", shape=["B", "H"], seed=5),
        value("rate", "constant", dtype="f32", value=0.1), value("zero", "constant", dtype="f32", value=0), value("scale", "constant", dtype="f32", value=1.25),
        value("keep", "ge", args=["mask", "rate"]), value("scaled", "mul", args=["biased", "scale"]),
        value("dropped", "select", args=["keep", "scaled", "zero"]), value("out", "add", args=["dropped", "r"])], "outputs": ["out"]}


def ranks_of(numbers):
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    return [order.index(i) for i in range(len(numbers))]


def overlap(bench):
    for rows, share in bench.blocks:
        program = bench.file("block.json", block(rows))
        kernels = bench.run(program, None)["kernels"]
        product = next(kernel["seconds"] for kernel in kernels if kernel["name"] == "mm")
        simple = statistics.median(kernel["seconds"] for kernel in kernels if kernel["name"] in ("biased", "scaled", "dropped", "out"))
        # Both halves of an all-reduce: each rank sends as many bytes as it has.
        bytes_sent = rows * 1024 * 4
        link = f"5,{bytes_sent / (share * product) / 1e9:.6f}"
        device = bench.file("device.json", {"tutti_device": 1, "name": "here", "matmul_tflops": 2 * rows * 1024 * 1024 / product / 1e12,
                                            "pointwise_tflops": 1, "memory_GBps": 3 * bytes_sent / simple / 1e9, "launch_us": 5})
        for schedule in BLOCK.values():
            bench.compare(program, schedule, "--link", link, "--sizes", "B=75,K=130,H=67")
        if rows == bench.blocks[0][0]:
            bench.compare(program, BLOCK[OVERLAPPED], "--link", link)
        times, predicted = {form: [] for form in BLOCK}, {}
        for _ in range(bench.rounds):
            for form, schedule in BLOCK.items():
                answer = bench.run(program, schedule, "--link", link, "--device", device)
                times[form].append(answer["seconds"] * 1e3)
                predicted[form] = answer["predicted_seconds"] * 1e3
        print(f"Matrix product {rows}x1024x1024 with all-reduce, bias, dropout, residual; 2 ranks; the product takes {product * 1e3:.1f} ms, its messages {share} times as long on "
              f"the link; {bench.rounds} rounds of {bench.calls} calls.\n")
        print(f"| schedule | ms | predicted | error | {FUSED} / it | hidden |\n| --- | --- | --- | --- | --- | --- |")
        errors, order = [], list(BLOCK)
        for form in order:
            pairs = [a / b for a, b in zip(times[FUSED], times[form])]
            hidden = [(a - b) / (min(1, share) * product * 1e3) for a, b in zip(times[FUSED], times[form])]
            middle = statistics.median(times[form])
            errors.append(abs(predicted[form] / middle - 1))
            shows_hidden = f"{100 * statistics.median(hidden):.0f} %" if form.startswith("ol(") else ""
            print(f"| {form} | {shown(times[form], '{:.1f}')} | {predicted[form]:.1f} | {100 * (predicted[form] / middle - 1):+.0f} % | {shown(pairs)} | {shows_hidden} |")
        measured = ranks_of([statistics.median(times[form]) for form in order])
        expected = ranks_of([predicted[form] for form in order])
        count = len(order)
        correlation = 1 - 6 * sum((a - b) ** 2 for a, b in zip(measured, expected)) / (count * (count * count - 1))
        print(f"\nPredictions: {100 * max(errors):.0f} % off at most, {100 * statistics.median(errors):.0f} % in the middle; rank correlation {correlation:.2f}.\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutti")
    parser.add_argument("--rounds", default=9, type=int)
    parser.add_argument("--calls", default=10, type=int)
    parser.add_argument("--skip", default="")
    parser.add_argument("--blocks", default="1024:1,1024:2,2048:1", help="rows of the product, and what its messages take: so many times as long")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        for table in (adam, overlap):
            if table.__name__ not in options.skip.split(","):
                table(bench)


main()
