"""The end of a tensor-parallel layer: product, all-reduce, bias, dropout, residual."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("matmul_block", {"B": 64, "H": 96, "K": 128}, tensor=4)
    x = p.input("x", ["B", "K"], layout={"tensor": 1})
    w = p.input("w", ["K", "H"], layout={"tensor": 0})
    bias, residual = p.input("bias", ["H"]), p.input("residual", ["B", "H"])
    total = tt.matmul(x, w, name="mm").all_reduce("tensor", name="sum")
    p.output((tt.dropout((total + bias).named("biased"), 0.1, seed=7, name="drop") + residual).named("out"))
    return p


def schedule(p: tt.Program) -> tt.Program:
    """The product runs while what it has made is on the wire, in four pieces."""
    return p.overlap("mm", "sum", pieces=4)
