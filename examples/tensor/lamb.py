"""LAMB, data-parallel: Adam's direction, scaled by the ratio of two norms."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("lamb", {"N": 4_000_000}, data=8)
    g = p.input("g", ["N"], layout={"data": "local"})
    w = p.state("w", ["N"], fixed=True)
    m, v = p.state("m", ["N"]), p.state("v", ["N"], positive=True)
    lr, t = p.input("lr", positive=True), p.input("t", positive=True)
    mean = (g.all_reduce("data", name="sum") / 8.0).named("mean")
    m_new = (0.9 * m + 0.1 * mean).named("m_new")
    v_new = (0.999 * v + 0.001 * (mean * mean)).named("v_new")
    m_hat, v_hat = m_new / (1.0 - 0.9**t), v_new / (1.0 - 0.999**t)
    direction = (m_hat / (tt.sqrt(v_hat) + 1e-6) + 0.01 * w).named("direction")
    w_norm = tt.sqrt((w * w).sum(name="w_square"), name="w_norm")
    u_norm = tt.sqrt((direction * direction).sum(name="u_square"), name="u_norm")
    p.update(w, (w - lr * (w_norm / u_norm) * direction).named("w_new"))
    p.update(m, m_new)
    p.update(v, v_new)
    return p


def schedule(p: tt.Program) -> tt.Program:
    """Everything on slices; the norm of the direction becomes a sum of partial sums."""
    return p.split("sum").reorder("sum.ag").as_slice("m", "v")
