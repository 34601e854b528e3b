"""A mixture of experts: tokens are sent to the experts' ranks, and back."""

from tutti import tensor as tt


def program() -> tt.Program:
    p = tt.Program("moe", {"P": 4, "E": 8, "C": 16, "H": 24, "F": 32}, expert=4)
    x = p.input("x", ["P", "E", "C", "H"], layout={"expert": 0})
    w1, w2 = p.input("w1", ["E", "H", "F"], layout={"expert": 0}), p.input("w2", ["E", "F", "H"], layout={"expert": 0})
    sent = x.all_to_all("expert", split=1, concat=0, name="dispatch")
    hidden = tt.relu(tt.einsum("pech,ehf->pecf", sent, w1, name="mm1"), name="hidden")
    back = tt.einsum("pecf,efh->pech", hidden, w2, name="mm2").all_to_all("expert", split=0, concat=1, name="combine")
    p.output((back + x).named("out"))
    return p


def schedule(p: tt.Program) -> tt.Program:
    """The experts begin with the first tokens while the others are on their way."""
    return p.overlap("dispatch", "mm1", pieces=4)
