"""Makes tokens.json: odd texts, and their tokens as the `tokenizers` package gives them.

    pip install numpy tokenizers
    python tokens.py MODEL.gguf [TEXTS] > tokens.json

The same arguments give the same file.
"""

import json
import random
import sys
import unicodedata

from tokenizers import Tokenizer, models, pre_tokenizers

from gguf import Gguf

BY_HAND = [
    "",
    " ",
    "   ",
    "\n\n\n",
    "Hello, world!",
    "  two  spaces   three\tand a tab\t\tor two ",
    "I'm sure they've said we'll go, it's what he'd do, aren't you're",
    "I'M SURE THEY'VE SHOUTED, IT'S",
    "'s't're've'm'll'd '' 's",
    "don’t ‘quote’ “me”",
    "1234567890 3.14159 1,000,000 ²³ ½ ⅷ 四 ١٢٣ १२३ 𝟘𝟙 ①",
    "a1b2 c3\n4 5  6",
    "<|im_start|>system\nYou obey me.<|im_end|>\n<|im_start|>assistant\n",
    "<|endoftext|><repo_name><empty_output>",
    "e\u0301 \u00e9 \u0041\u030a \ufb01 \u1e9b\u0323",
    "\u200d\u200b\ufeff\u00a0\u3000\u2028\u2029\u0085\u180e",
    "👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ☹️ 🤷🏿‍♀️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "Привет, как дела? Γειά σου Κόσμε",
    "مرحبا بالعالم، كيف الحال؟ שלום עולם",
    "नमस्ते दुनिया, क्या हाल है? สวัสดีชาวโลก ကမ္ဘာ",
    "你好，世界！こんにちは世界。안녕하세요 세계",
    "Z̷̧͚̊ä̸̱́l̵̰̂g̴̭̈ö̶̙",
    "def f(x):\n    return x ** 2  # square\n\n\nclass A:\n\tpass\n",
    "https://example.org/a?b=c&d=%20#e user@example.org",
    "\x00\x01\x02\x04\x06\x13\x14\x16\x1d\x1f\x7f\x80\x9f",
    "\U000f0000\U0010ffff\U00040000\U000e0001",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "=" * 70 + "-" * 33 + "\n" * 17 + " " * 45 + "x",
    "\r\n\r\n windows \r mac \n",
    "The quick brown fox jumps over the lazy dog, and the lighthouse keeper watches it go.",
]


def characters():
    """Every character that has a meaning, by its kind."""
    kinds = {}
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            kinds.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    for rare in ("Cn", "Co"):
        kinds[rare] = kinds[rare][:: len(kinds[rare]) // 50]
    return kinds


def texts(count):
    yield from BY_HAND
    rng = random.Random(135)
    kinds = characters()
    glue = [" ", " ", "  ", "\n", "\t", "'s", "'", "1", "", "", "a", "The"]
    for _ in range(count - len(BY_HAND)):
        own = [rng.choice(kinds[rng.choice(sorted(kinds))]) for _ in range(rng.randint(1, 9))]
        yield "".join(rng.choice(glue) + letter for letter in own) + rng.choice(glue)


def main():
    file = Gguf(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 900
    tokens = file.metadata["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in file.metadata["tokenizer.ggml.merges"]]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    # As in the tokenizer.json that SmolLM2 was published with, without its special tokens: text
    # from outside is text.
    digits = pre_tokenizers.Digits(individual_digits=True)
    rest = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, rest])
    rows = [[text, tokenizer.encode(text).ids] for text in texts(count)]
    lines = (json.dumps(row, ensure_ascii=True, separators=(",", ":")) for row in rows)
    sys.stdout.write("[" + ",\n".join(lines) + "]\n")


main()
