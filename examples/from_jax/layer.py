"""A pipeline stage of one tensor-parallel layer, as people write it in jax; as a program it writes the tensor program.

    python3 layer.py layer.json                              # 2 stages of 8 GPUs, a layer of 12 288
    python3 layer.py small.json --mesh 2,2 --rows 12 --width 16 --type float32
"""

import argparse
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=16")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, Mesh  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402


def layer_on(stages: int, ranks: int):
    """The function on a mesh of so many stages, with so many ranks in each."""
    mesh = Mesh(np.array(jax.devices()[:stages * ranks]).reshape(stages, ranks), ("pipeline", "tensor"), axis_types=(AxisType.Auto, AxisType.Auto))

    def layer(x, w, bias, residual):
        x, w, bias, residual = x[0], w[0], bias[0], residual[0]  # what this stage has
        out = jax.lax.psum(x @ w, "tensor") + bias + residual
        sent = jax.lax.ppermute(out, "pipeline", [(stage, stage + 1) for stage in range(stages - 1)])
        return sent[None]

    per_stage = P("pipeline")
    specs = (P("pipeline", None, "tensor"), P("pipeline", "tensor", None), per_stage, per_stage)
    return jax.jit(jax.shard_map(layer, mesh=mesh, in_specs=specs, out_specs=per_stage))


def shapes(stages: int, rows: int, width: int, dtype):
    """Of the arguments: x, w, bias, residual of every stage."""
    return [jax.ShapeDtypeStruct((stages, *shape), dtype) for shape in ((rows, width), (width, width), (width,), (rows, width))]


def main() -> None:
    from tutti import tensor as tt

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("--mesh", type=lambda text: tuple(map(int, text.split(","))), default=(2, 8))
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--width", type=int, default=12288)
    parser.add_argument("--type", default="float16")
    options = parser.parse_args()
    function = layer_on(*options.mesh)
    tt.from_jax(function, *shapes(options.mesh[0], options.rows, options.width, jnp.dtype(options.type)), name="layer").save(options.output)


if __name__ == "__main__":
    main()
