"""SGD with momentum, data-parallel: gradients are summed, and every rank takes the same step."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("sgd", {"N": 4_000_000}, data=8)
    g = p.input("g", ["N"], layout={"data": "local"})
    w, m = p.state("w", ["N"], fixed=True), p.state("m", ["N"])
    mean = (g.all_reduce("data", name="sum") / 8.0).named("mean")
    m_new = (0.9 * m + mean).named("m_new")
    p.update(w, (w - 0.01 * m_new).named("w_new"))
    p.update(m, m_new)
    return p


def schedule(p: tt.Program) -> tt.Program:
    """Each rank does an eighth of the step, and keeps an eighth of the momentum."""
    q = p.split("sum").reorder("sum.ag").as_slice("m")
    return q.fuse("sum.rs", "mean", "mul1", "m_new", "mul2", "w_new", "w_new.ag", name="step")
