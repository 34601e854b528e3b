"""A layer of a pipeline stage, handed to the next stage."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("pipeline_step", {"B": 32, "H": 48, "K": 64}, pipeline=2, tensor=4)
    x = p.input("x", ["B", "K"], layout={"pipeline": "local", "tensor": 1})
    w = p.input("w", ["K", "H"], layout={"pipeline": "local", "tensor": 0})
    bias = p.input("bias", ["H"], layout={"pipeline": "local"})
    total = tt.matmul(x, w, name="mm").all_reduce("tensor", name="sum")
    p.output((total + bias).named("stage_out").shift("pipeline", 1, name="sent"))
    return p


def schedule(p: tt.Program) -> tt.Program:
    """Each rank hands a slice to the next stage, which gathers: a quarter of the bytes between stages."""
    return p.split("sum").reorder("sum.ag")
