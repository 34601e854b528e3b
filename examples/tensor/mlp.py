"""A transformer's MLP, data- and tensor-parallel."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("mlp", {"B": 32, "H": 48, "F": 64}, data=2, tensor=4)
    x = p.input("x", ["B", "H"], layout={"data": 0})
    w1, w2 = p.input("w1", ["H", "F"], layout={"tensor": 1}), p.input("w2", ["F", "H"], layout={"tensor": 0})
    bias = p.input("bias", ["H"])
    hidden = tt.gelu(tt.matmul(x, w1, name="mm1"), name="hidden")
    total = tt.matmul(hidden, w2, name="mm2").all_reduce("tensor", name="sum")
    p.output(((total + bias).named("biased") + x).named("out"))
    return p


def schedule(p: tt.Program) -> tt.Program:
    """Bias and residual on slices of the rows."""
    return p.split("sum").reorder("sum.ag")
