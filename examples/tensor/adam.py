"""Adam, data-parallel. `dtype` is that of the gradients on the wire: adam_f16.py has f16."""

from tutti import tensor as tt


def program(name: str = "adam", dtype: str = "f32") -> tt.Program:
    p = tt.Program(name, {"N": 4_000_000}, data=8)
    g = p.input("g", ["N"], dtype, layout={"data": "local"})
    w = p.state("w", ["N"], fixed=True)
    m, v = p.state("m", ["N"]), p.state("v", ["N"], positive=True)
    lr, t = p.input("lr", positive=True), p.input("t", positive=True)
    total = g.all_reduce("data", name="sum")
    mean = ((total if dtype == "f32" else total.cast("f32", name="wide")) / 8.0).named("mean")
    m_new = (0.9 * m + 0.1 * mean).named("m_new")
    v_new = (0.999 * v + 0.001 * (mean * mean)).named("v_new")
    m_hat, v_hat = m_new / (1.0 - 0.9**t), v_new / (1.0 - 0.999**t)
    p.update(w, (w - lr * m_hat / (tt.sqrt(v_hat) + 1e-8)).named("w_new"))
    p.update(m, m_new)
    p.update(v, v_new)
    return p


def schedule(p: tt.Program) -> tt.Program:
    """Optimizer states sliced over the ranks, as ZeRO has them."""
    return p.split("sum").reorder("sum.ag").as_slice("m", "v")
