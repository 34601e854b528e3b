"""Self-attention with heads sliced over ranks; the projection's partial sums are reduced."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("attention", {"S": 24, "H": 32, "A": 8, "D": 4}, tensor=4)
    x = p.input("x", ["S", "H"])
    wq, wk, wv = (p.input(name, ["H", "A", "D"], layout={"tensor": 1}) for name in ("wq", "wk", "wv"))
    wo = p.input("wo", ["A", "D", "H"], layout={"tensor": 0})
    q, k, v = (tt.einsum("sh,had->asd", x, w, name=name) for w, name in ((wq, "q"), (wk, "k"), (wv, "v")))
    scores = (tt.einsum("asd,atd->ast", q, k, name="products") * 0.5).named("scores")
    mixed = tt.einsum("ast,atd->asd", tt.softmax(scores), v, name="mixed")
    total = tt.einsum("asd,adh->sh", mixed, wo, name="projected").all_reduce("tensor", name="sum")
    p.output((total + x).named("out"))
    return p


def schedule(p: tt.Program) -> tt.Program:
    """The residual on slices of the sequence."""
    return p.split("sum").reorder("sum.ag")
