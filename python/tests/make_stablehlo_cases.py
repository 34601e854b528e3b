#!/usr/bin/env python3
"""Writes tests/data/stablehlo: functions of a sharded model as JAX lowers them, with arguments and the results that JAX computes on 8 virtual CPU devices.

`make_stablehlo_cases.py FOLDER`, with a Python that has jax. The texts are what the tests of the import read; they need jaxlib only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

CASES: dict[str, tuple[Any, list[tuple[int, ...]]]] = {}


def mesh(**axes: int) -> Mesh:
    count = int(np.prod(list(axes.values())))
    return Mesh(np.array(jax.devices()[:count]).reshape(*axes.values()), tuple(axes))


def case(name: str, shapes: list[tuple[int, ...]], where: Mesh, ins: Any, outs: Any, manual: bool = True, donate: tuple[int, ...] = ()) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        if manual:
            jitted = jax.jit(jax.shard_map(function, mesh=where, in_specs=ins, out_specs=outs, check_vma=False), donate_argnums=donate)
        else:
            def sharding(spec: Any) -> Any:
                return jax.tree.map(lambda one: NamedSharding(where, one), spec, is_leaf=lambda one: isinstance(one, P))
            jitted = jax.jit(function, in_shardings=sharding(ins), out_shardings=sharding(outs), donate_argnums=donate)
        CASES[name] = (jitted, shapes)
        return function
    return add


@case("adam-zero", [(4, 24), (24,), (24,), (24,)], mesh(data=4), (P("data"), P(), P("data"), P("data")), (P(), P("data"), P("data")), donate=(1, 2, 3))
def adam_zero(g: Any, w: Any, m: Any, v: Any) -> Any:
    """The optimizer on slices, the gradient's norm clipped."""
    part = lax.psum_scatter(g[0], "data", scatter_dimension=0, tiled=True) / 4
    norm = jnp.sqrt(lax.psum(jnp.sum(part * part), "data"))
    part = part * jnp.minimum(1.0, 0.5 / (norm + 1e-6))
    m1, v1 = 0.9 * m + 0.1 * part, 0.999 * v + 0.001 * part * part
    own = lax.dynamic_slice_in_dim(w, lax.axis_index("data") * 6, 6)
    new = own - 0.001 * m1 / (jnp.sqrt(v1) + 1e-8)
    return lax.all_gather(new, "data", tiled=True), m1, v1


@case("moe", [(8, 6), (4, 6, 5), (4, 5, 6)], mesh(expert=4), (P("expert"), P("expert"), P("expert")), P("expert"))
def moe(x: Any, w1: Any, w2: Any) -> Any:
    """Two tokens of every rank, each to two experts of four, in a fixed order."""
    gates = jnp.einsum("th,e->teh", x, jnp.ones(4))
    sent = lax.all_to_all(gates, "expert", split_axis=1, concat_axis=0, tiled=True)
    hidden = jax.nn.relu(jnp.einsum("teh,ehf->tef", sent, w1))
    back = lax.all_to_all(jnp.einsum("tef,efh->teh", hidden, w2), "expert", split_axis=0, concat_axis=1, tiled=True)
    return x + jnp.sum(back, axis=1) / 4


@case("pipeline", [(2, 6, 8), (2, 8, 12), (2, 12)], mesh(pipeline=2, tensor=4), (P("pipeline", None, "tensor"), P("pipeline", "tensor"), P("pipeline")), P("pipeline"))
def pipeline(x: Any, w: Any, bias: Any) -> Any:
    y = lax.psum(x[0] @ w[0], "tensor") + bias[0]
    first = lax.axis_index("pipeline") == 0
    sent = lax.ppermute(y, "pipeline", [(0, 1)])
    return jnp.where(first, y, sent * 2)[None]


@case("ring", [(8, 3)], mesh(data=8), P("data"), P("data"))
def ring(x: Any) -> Any:
    """Every rank's neighbour's, around a ring, three turns of a loop."""
    def turn(_: Any, state: Any) -> Any:
        total, here = state
        here = lax.ppermute(here, "data", [(i, (i + 1) % 8) for i in range(8)])
        return total + here * (1 + lax.axis_index("data")), here
    return lax.fori_loop(0, 3, turn, (x, x))[0]


@case("sums", [(8, 4), (4,)], mesh(data=2, tensor=4), (P("data", "tensor"), P()), (P(), P("data"), P()))
def sums(x: Any, y: Any) -> Any:
    """Sums over one axis, over both, of what is the same everywhere, the largest, and a softmax along a sharded dimension."""
    both = lax.psum(x, ("data", "tensor"))
    largest = lax.pmax(jnp.max(x), ("data", "tensor"))
    shifted = jnp.exp(x - lax.pmax(jnp.max(x, axis=1, keepdims=True), "tensor"))
    softmax = shifted / lax.psum(jnp.sum(shifted, axis=1, keepdims=True), "tensor")
    return both * largest, lax.all_gather(softmax, "tensor", axis=1, tiled=True), lax.psum(y, "tensor") + jnp.sum(lax.pmean(x, ("data", "tensor")), axis=0)


@case("block-jit", [(8, 6), (6, 16), (16, 6), (6,)], mesh(data=2, tensor=4), (P("data"), P(None, "tensor"), P("tensor"), P()), P("data"), manual=False)
def block_jit(x: Any, w1: Any, w2: Any, scale: Any) -> Any:
    y = jax.nn.gelu(x @ w1) @ w2 + x
    centred = y - jnp.mean(y, axis=-1, keepdims=True)
    return centred * lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale


@case("fsdp-jit", [(8, 6), (6, 16), (16, 6)], mesh(data=8), (P("data"), P(None, "data"), P("data")), (P(), P(None, "data"), P("data")), manual=False, donate=(1, 2))
def fsdp_jit(x: Any, w1: Any, w2: Any) -> Any:
    """A training step with sharded weights."""
    def loss(w1: Any, w2: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - x) ** 2)
    value, (g1, g2) = jax.value_and_grad(loss, argnums=(0, 1))(w1, w2)
    return value, w1 - 0.1 * g1, w2 - 0.1 * g2


@case("attention", [(4, 6, 8), (8, 4, 3, 2), (4, 2, 8), (8,)], mesh(data=2, tensor=4), (P("data"), P(None, "tensor"), P("tensor"), P()), P("data"))
def attention(x: Any, wqkv: Any, wo: Any, scale: Any) -> Any:
    """Heads over one axis, the batch over the other."""
    h = x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale
    q, k, v = (jnp.einsum("bsd,dhe->bhse", h, w) for w in (jnp.tensordot(wqkv, jax.nn.one_hot(i, 3), ((2,), (0,))) for i in range(3)))
    weights = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k) / jnp.sqrt(2.0), axis=-1)
    return x + lax.psum(jnp.einsum("bhse,hed->bsd", jnp.einsum("bhst,bhte->bhse", weights, v), wo), "tensor")


@case("rows", [(4, 6)], mesh(data=4), P("data"), P("data"))
def rows(x: Any) -> Any:
    """A part meets another part: each rank's row minus the first rank's, gathered, scattered and split again."""
    everything = lax.all_gather(x[0], "data")
    mean = jnp.mean(everything, axis=0)
    swapped = lax.all_to_all(jnp.tile(x, (4, 1)) * mean, "data", 0, 0)
    part = lax.psum_scatter(everything * x, "data", scatter_dimension=0)
    return (jnp.sum(swapped, 0) + part + x[0] - mean)[None]


def main() -> None:
    folder = Path(sys.argv[1])
    rng = np.random.default_rng(7)
    for name, (function, shapes) in CASES.items():
        arguments = [rng.uniform(0.1, 1.0, shape).astype(np.float32) for shape in shapes]
        text = function.lower(*arguments).as_text()
        results = function(*(jnp.array(argument) for argument in arguments))
        results = results if isinstance(results, tuple) else (results,)
        (folder / f"{name}.stablehlo").write_text(text)
        (folder / f"{name}.numbers.json").write_text(json.dumps({"arguments": [a.tolist() for a in arguments], "results": [np.asarray(r).tolist() for r in results]}) + "\n")


if __name__ == "__main__":
    main()
