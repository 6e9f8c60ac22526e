"""MiniLM as a graph for onnxruntime, made from the int8 weights that a package ships. Pure.

The package's own graph turns its int8 weights back into float32 and multiplies those. Ours multiplies integers
(dynamic quantisation: activations become uint8 as they come) and uses the runtime's fused operators, which takes half
the memory and half the time; cosine .995 to the float32 graph. Weights are shifted to uint8, because older processors
add products of uint8 and int8 with 16 bits, which overflow.

The layers are BERT's (Devlin et al. 2018) with six of them, 12 heads, width 384; ONNX's messages are those of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed.wire import chunk, fields, numbers, real, varint

LAYERS: Final = 6
HEADS: Final = 12
DIM: Final = 384
LONGEST: Final = 512
"""Word pieces that have a position."""

_MICROSOFT: Final = "com.microsoft"
_EPSILON: Final = 1e-12
_TYPES: Final[Mapping[int, str]] = {1: "<f4", 2: "|u1", 3: "|i1", 6: "<i4", 7: "<i8", 9: "|b1"}
_CODES: Final = {np.dtype(name): code for code, name in _TYPES.items()}
_FLOAT, _INT32 = 1, 6
_ANONYMOUS: Final = re.compile(r"val_(\d+)_q")

Array = NDArray[Any]


def read_weights(model: bytes) -> dict[str, Array]:
    """The constants of an ONNX file by name, without copying them. Raises ValueError."""
    found: dict[str, Array] = {}
    for number, graph in fields(memoryview(model)):
        if number == 7 and isinstance(graph, memoryview):
            for part, value in fields(graph):
                if part == 5 and isinstance(value, memoryview):
                    name, array = _tensor(value)
                    found[name] = array
    return found


def _tensor(message: memoryview) -> tuple[str, Array]:
    shape: list[int] = []
    name, code, raw = "", _FLOAT, memoryview(b"")
    for number, value in fields(message):
        if number == 1:
            shape += numbers(value)
        elif number == 2 and isinstance(value, int):
            code = value
        elif number == 8 and isinstance(value, memoryview):
            name = bytes(value).decode()
        elif number == 9 and isinstance(value, memoryview):
            raw = value
    if code not in _TYPES:
        raise ValueError(f"{name}: numbers of type {code}")
    whole = np.frombuffer(raw, dtype=_TYPES[code])
    return name, whole.reshape(shape) if whole.size or 0 in shape else whole


@dataclass(frozen=True, slots=True)
class _Dense:
    """One linear layer: int8 (in, out), a scale per column, a bias."""

    weight: Array
    scale: Array
    bias: Array


@dataclass(slots=True)
class _Graph:
    """A graph in the making."""

    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)

    def constant(self, name: str, array: Array) -> str:
        """A tensor that is part of the file."""
        tensor = b"".join(varint(1, size) for size in array.shape) + varint(2, _CODES[array.dtype])
        self.constants.append(chunk(5, tensor + chunk(8, name) + chunk(9, np.ascontiguousarray(array).tobytes())))
        return name

    def node(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "", **given: int | float
    ) -> str:
        """One operation; its first output's name."""
        message = b"".join([*(chunk(1, name) for name in inputs), *(chunk(2, name) for name in outputs)])
        attributes = b"".join(chunk(5, _attribute(name, value)) for name, value in given.items())
        self.nodes.append(chunk(1, message + chunk(4, kind) + attributes + (chunk(7, domain) if domain else b"")))
        return outputs[0]

    def dense(self, name: str, data: str, layer: _Dense) -> str:
        """``data`` as uint8 times the weights, plus the bias, as float32."""
        shifted = (layer.weight.view(np.uint8) ^ 0x80).astype(np.uint8)  # int8 + 128
        zero = np.full(len(layer.bias), 128, dtype=np.uint8)
        given = [data, self.constant(f"{name}_w", shifted), self.constant(f"{name}_s", layer.scale)]
        given += [self.constant(f"{name}_z", zero), self.constant(f"{name}_b", layer.bias)]
        return self.node("DynamicQuantizeMatMul", given, [name], domain=_MICROSOFT)

    def looked_up(self, name: str, ids: str, table: Array, scales: Array) -> str:
        """Rows of an int8 table with a scale each, as float32."""
        rows = self.node("Gather", [self.constant(f"{name}_q", table), ids], [f"{name}_rows"])
        scale = self.node("Gather", [self.constant(f"{name}_s", scales), ids], [f"{name}_scales"])
        return self.node("Mul", [self.node("Cast", [rows], [f"{name}_real"], to=_FLOAT), scale], [name])

    def normed(self, name: str, data: str, beside: str, weights: Mapping[str, Array], prefix: str) -> str:
        """The sum of both, normalised."""
        scale = self.constant(f"{name}_w", weights[f"{prefix}.weight"])
        shift = self.constant(f"{name}_b", weights[f"{prefix}.bias"])
        given = [data, beside, scale, shift]
        return self.node("SkipLayerNormalization", given, [name], domain=_MICROSOFT, epsilon=_EPSILON)

    def finished(self, output: str) -> bytes:
        """The whole file; inputs are ``ids`` and ``mask`` (batch, length) and ``positions`` (length), all int32."""
        ends = chunk(2, "minilm")
        for name, shape in (("ids", ("batch", "length")), ("positions", ("length",)), ("mask", ("batch", "length"))):
            ends += chunk(11, _described(name, _INT32, shape))
        ends += chunk(12, _described(output, _FLOAT, ("batch", "length", str(DIM))))
        sets = chunk(8, varint(2, 18)) + chunk(8, chunk(1, _MICROSOFT) + varint(2, 1))
        return varint(1, 9) + sets + chunk(7, b"".join([*self.nodes, *self.constants]) + ends)


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return chunk(1, name) + real(2, value) + varint(20, 1)
    return chunk(1, name) + varint(3, value) + varint(20, 2)


def _described(name: str, code: int, shape: Sequence[str]) -> bytes:
    sizes = b"".join(chunk(1, varint(1, int(size)) if size.isdigit() else chunk(2, size)) for size in shape)
    return chunk(1, name) + chunk(2, chunk(1, varint(1, code) + chunk(2, sizes)))


def make_graph(model: bytes) -> bytes:
    """The package's ONNX file as the graph that we run. Raises ValueError or KeyError when it is another file."""
    weights = read_weights(model)
    unnamed = sorted(int(found[1]) for name in weights if (found := _ANONYMOUS.fullmatch(name)))
    if len(unnamed) != 6 * LAYERS:
        raise ValueError(f"{len(unnamed)} linear layers, {6 * LAYERS} expected")
    graph = _Graph()
    data = _embedded(graph, weights)
    for number in range(LAYERS):
        data = _layer(graph, weights, number, unnamed[6 * number : 6 * number + 6], data)
    return graph.finished(data)


def _embedded(graph: _Graph, weights: Mapping[str, Array]) -> str:
    at = "inner.embeddings"
    parts = {"word": "ids", "position": "positions"}
    words, places = (
        graph.looked_up(
            name, ids, weights[f"{at}.{name}_embeddings.weight_q"], weights[f"{at}.{name}_embeddings.weight_scale"]
        )
        for name, ids in parts.items()
    )
    kind = graph.constant("kind", weights[f"{at}.token_type_embeddings.weight"][0])
    summed = graph.node("Add", [graph.node("Add", [words, places], ["placed"]), kind], ["summed"])
    given = [summed, graph.constant("first_w", weights[f"{at}.LayerNorm.weight"])]
    given.append(graph.constant("first_b", weights[f"{at}.LayerNorm.bias"]))
    return graph.node("LayerNormalization", given, ["layer0"], epsilon=_EPSILON)


def _layer(graph: _Graph, weights: Mapping[str, Array], number: int, at: Sequence[int], data: str) -> str:
    """One transformer layer; ``at`` numbers its linear layers in the file: query, key, value, output, wide, narrow."""
    base = f"inner.encoder.layer.{number}"
    biases = [f"attention.self.{name}" for name in ("query", "key", "value")]
    biases += ["attention.output.dense", "intermediate.dense", "output.dense"]
    dense = [
        _Dense(weights[f"val_{one}_q"], weights[f"val_{one}_scale"].reshape(-1), weights[f"{base}.{name}.bias"])
        for one, name in zip(at, biases, strict=True)
    ]
    joined = _Dense(
        np.concatenate([one.weight for one in dense[:3]], axis=1),
        np.concatenate([one.scale for one in dense[:3]]),
        np.concatenate([one.bias for one in dense[:3]]),
    )
    parts = [f"{name}{number}" for name in ("query", "key", "value")]
    graph.node("Split", [graph.dense(f"joined{number}", data, joined)], parts, axis=2, num_outputs=3)
    seen = graph.node("MultiHeadAttention", [*parts, "", "mask"], [f"seen{number}"], domain=_MICROSOFT, num_heads=HEADS)
    told = graph.dense(f"told{number}", seen, dense[3])
    middle = graph.normed(f"middle{number}", told, data, weights, f"{base}.attention.output.LayerNorm")
    wide = graph.node("Gelu", [graph.dense(f"wide{number}", middle, dense[4])], [f"bent{number}"], domain=_MICROSOFT)
    narrow = graph.dense(f"narrow{number}", wide, dense[5])
    return graph.normed(f"layer{number + 1}", narrow, middle, weights, f"{base}.output.LayerNorm")
