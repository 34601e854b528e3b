"""Adam with gradients in f16: half the bytes of the reduce-scatter; the weights are gathered in f32."""

import adam
from tutti import tensor as tt


def program() -> tt.Program:
    return adam.program("adam_f16", "f16")


schedule = adam.schedule
