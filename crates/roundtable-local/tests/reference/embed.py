"""Makes tests/reference/wordpiece.json and minilm.json: what the `tokenizers` package and a forward pass in double
precision make of texts. The tests hold `src/embed` to it.

    pip install tokenizers==0.23.3 numpy==2.4.6
    python3 crates/roundtable-local/tests/reference/embed.py target/models/all-MiniLM-L6-v2
"""

import hashlib
import json
import struct
import sys
from math import erf
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

HERE = Path(__file__).parent
MODEL = Path(sys.argv[1])
MOST = 256

SAMPLES = [
    "",
    " \t\r\n\u00a0\u2003\u3000",
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog's back; it doesn't mind.",
    "don't-stop/me_now@3.14%...",
    "[CLS] [SEP] [MASK] [UNK] [PAD] ##ing [unused0]",
    "caf\u00e9 cafe\u0301 na\u00efve \u00c5ngstr\u00f6m A\u030angstro\u0308m",
    "Stra\u00dfe STRASSE \u1e9e \u0130stanbul \u0131 I\u0307 \ufb01re \ufb03x",
    "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3",
    "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439\u0442\u0435 \u0451\u0436 \u0439",
    "\u6771\u4eac\u30bf\u30ef\u30fc\u306b\u884c\u304f\u3002 \u4f60\u597d\uff0c\u4e16\u754c\uff01",
    "\ud55c\uad6d\uc5b4 \uc548\ub155 \u1112\u1161\u11ab",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 \u0ba4\u0bae\u0bbf\u0bb4\u0bcd",
    "\u0645\u0631\u062d\u0628\u064b\u0627 \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u202eevil\u202c",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd \u2764\ufe0f",
    "zero\u200bwidth\u200djoin\ufeffbom soft\u00adhyphen",
    "a\u0000b\ufffdc\u0007d\u001fe\u007ff\u0085g\u2028h\u2029i",
    "\uff28\uff45\uff4c\uff4c\uff4f\uff01 \U0001d4d7\U0001d4ee\U0001d4f5\U0001d4f5\U0001d4f8 \u2460\u2461 \u2167 \u00bd",
    "\u201cquoted\u201d \u2018single\u2019 \u2014 dash \u2026 \u00bfqu\u00e9? \u00a1s\u00ed! \u2022 \u00a7 \u20ac5 \u00a33",
    "z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031ea\u0349\u032f\u031e\u0320\u034dlgo",
    "\uf900\U0002f800\u3400\U00020000\U0002a700\U0002b820\u30fc\u3005",
    "x" * 100 + " " + "y" * 101 + " " + "\u00e9" * 100,
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "1234567890 1,234.56 0xdeadbeef 192.168.0.1 2026-11-16T03:46:33Z",
    "https://example.org/path?query=1&other=%20#fragment user@example.org",
    "SELECT * FROM \"table\" WHERE x='1';--",
    "\U000e0041\U000e0042 \ue000 \U0010ffff \u0378",
    "word " * 400,
    "\u4e2d" * 300,
]

TEXTS = [
    "Should we move our billing service to Rust this year?",
    "Is it a good idea to rewrite the invoicing backend in Rust?",
    "The cat sat on the mat.",
    "Quantum computers factor large numbers.",
    "I agree with the plan.",
    "I do not agree with the plan.",
    "",
    "caf\u00e9 \u6771\u4eac \U0001f468\u200d\U0001f469\u200d\U0001f467 [SEP] na\u00efve",
    "A third of the modules touch money; count those double. " * 3,
    "word " * 400,
]

RANGES = [
    (0x20, 0x7E), (0x61, 0x7A), (0x61, 0x7A), (0x20, 0x20), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F),
    (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0xEFF), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F),
    (0x2070, 0x27BF), (0x3000, 0x30FF), (0x4E00, 0x4EFF), (0xAC00, 0xAFFF), (0xF900, 0xFAFF), (0xFE00, 0xFFFD),
    (0x1D400, 0x1D7FF), (0x1F300, 0x1F9FF), (0x20000, 0x20100), (0x0, 0x1F), (0xD0000, 0xD0100),
]
MIXTURES, TOGETHER = 12000, 500


class Dice:
    """The generator of the Rust test: both roll the same."""

    def __init__(self):
        self.state = 20261116

    def roll(self, sides):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % sides

    def text(self):
        letters = []
        for _ in range(1 + self.roll(24)):
            first, last = RANGES[self.roll(len(RANGES))]
            letters.append(chr(first + self.roll(last - first + 1)))
        return "".join(letters)


vocabulary = {line: number for number, line in enumerate((MODEL / "vocab.txt").read_text().split("\n")[:-1])}
# Without added tokens: what people write never stands for a special token.
tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
tokenizer.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
tokenizer.pre_tokenizer = BertPreTokenizer()


def tokens(text):
    inside = tokenizer.encode(text, add_special_tokens=False).ids[: MOST - 2]
    return [vocabulary["[CLS]"], *inside, vocabulary["[SEP]"]]


def digest(texts):
    digest = hashlib.sha256()
    for text in texts:
        found = tokens(text)
        digest.update(struct.pack(f"<{len(found) + 1}I", len(found), *found))
    return digest.hexdigest()[:16]


def characters(block):
    codes = range(block * 4096, block * 4096 + 4096)
    return [f"a{chr(code)}b" for code in codes if not 0xD800 <= code < 0xE000]


def read_tensors():
    data = (MODEL / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            numbers = np.frombuffer(data[8 + size + first : 8 + size + last], "<f4")
            found[name] = numbers.reshape(entry["shape"]).astype(np.float64)
    return found


W = read_tensors()
ERF = np.vectorize(erf)


def linear(x, name):
    return x @ W[f"{name}.weight"].T + W[f"{name}.bias"]


def norm(x, name):
    spread = np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return (x - x.mean(-1, keepdims=True)) / spread * W[f"{name}.weight"] + W[f"{name}.bias"]


def embed(text):
    ids = tokens(text)
    x = W["embeddings.word_embeddings.weight"][ids] + W["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + W["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{name}.attention.self.{part}").reshape(len(ids), 12, 32).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(32)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), 384)
        x = norm(x + linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        wide = linear(x, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + ERF(wide / np.sqrt(2)))
        x = norm(x + linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = x.mean(0)
    return [round(float(number), 7) for number in mean / np.linalg.norm(mean)]


def write(name, lines):
    (HERE / name).write_text("[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n")


dice = Dice()
mixtures = [dice.text() for _ in range(MIXTURES)]
wordpiece = {
    "samples": [{"text": text, "tokens": tokens(text)} for text in SAMPLES],
    "characters": [digest(characters(block)) for block in range(0x110)],
    "mixtures": [digest(mixtures[at : at + TOGETHER]) for at in range(0, MIXTURES, TOGETHER)],
}
lines = [json.dumps(sample) for sample in wordpiece["samples"]]
text = '{"samples": [\n' + ",\n".join(lines) + '\n],\n"characters": ' + json.dumps(wordpiece["characters"])
(HERE / "wordpiece.json").write_text(text + ',\n"mixtures": ' + json.dumps(wordpiece["mixtures"]) + "}\n")
write("minilm.json", [{"text": text, "vector": embed(text)} for text in TEXTS])
