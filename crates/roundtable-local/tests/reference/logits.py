"""Makes logits.json: what a float forward pass over the dequantised weights gives for a few prompts.

    pip install numpy
    python logits.py MODEL.gguf TOKENS.json > logits.json

The prompts are texts of tokens.json. Of each, the ten largest logits and every 997th are kept.
Written from the description of the architecture, without the Rust code's shortcuts: every token
at once, 64-bit sums, no rounding of activations.
"""

import json
import sys

import numpy

from gguf import Gguf

PROMPTS = [
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog, and the lighthouse keeper watches it go.",
    "Привет, как дела? Γειά σου Κόσμε",
    "def f(x):\n    return x ** 2  # square\n\n\nclass A:\n\tpass\n",
]


def norm(x, weight, epsilon):
    return x / numpy.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * weight


def turn(x, base):
    """Rotary positions on neighbouring pairs, as GGUF files of Llama models have them."""
    count, _, size = x.shape
    speeds = base ** (-numpy.arange(0, size, 2) / size)
    angles = numpy.arange(count)[:, None] * speeds[None, :]
    sin, cos = numpy.sin(angles)[:, None, :], numpy.cos(angles)[:, None, :]
    even, odd = x[..., 0::2], x[..., 1::2]
    out = numpy.empty_like(x)
    out[..., 0::2], out[..., 1::2] = even * cos - odd * sin, even * sin + odd * cos
    return out


def softmax(x):
    x = numpy.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def forward(file, tokens):
    get = lambda name: file.tensor(name + ".weight").astype("f8")
    meta = lambda key: file.metadata["llama." + key]
    heads, shared = meta("attention.head_count"), meta("attention.head_count_kv")
    epsilon, base = meta("attention.layer_norm_rms_epsilon"), meta("rope.freq_base")
    embedding = get("token_embd")
    x = embedding[tokens]
    count, width = x.shape
    hidden = numpy.triu(numpy.full((count, count), -numpy.inf), 1)
    for layer in range(meta("block_count")):
        part = lambda name: get(f"blk.{layer}.{name}")
        h = norm(x, part("attn_norm"), epsilon)
        split = lambda y, n: y.reshape(count, n, width // heads)
        query = turn(split(h @ part("attn_q").T, heads), base)
        key = turn(split(h @ part("attn_k").T, shared), base).repeat(heads // shared, axis=1)
        value = split(h @ part("attn_v").T, shared).repeat(heads // shared, axis=1)
        scores = numpy.einsum("thd,shd->hts", query, key) / numpy.sqrt(width // heads) + hidden
        mixed = numpy.einsum("hts,shd->thd", softmax(scores), value).reshape(count, width)
        x = x + mixed @ part("attn_output").T
        h = norm(x, part("ffn_norm"), epsilon)
        gate = h @ part("ffn_gate").T
        x = x + (gate / (1 + numpy.exp(-gate)) * (h @ part("ffn_up").T)) @ part("ffn_down").T
    return norm(x[-1], get("output_norm"), epsilon) @ embedding.T


def main():
    file = Gguf(sys.argv[1])
    known = dict((text, tokens) for text, tokens in json.load(open(sys.argv[2])))
    rows = []
    for text in PROMPTS:
        logits = forward(file, known[text])
        chosen = set(numpy.argsort(logits)[-10:].tolist()) | set(range(0, len(logits), 997))
        best = int(numpy.argmax(logits))
        kept = [[token, round(float(logits[token]), 4)] for token in sorted(chosen)]
        rows.append({"text": text, "best": best, "logits": kept})
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    sys.stdout.write("[" + ",\n".join(lines) + "]\n")


main()
