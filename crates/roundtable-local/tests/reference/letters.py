"""Makes src/tokens/letters.rs: which characters are letters and numbers to the original tokeniser.

    pip install tokenizers
    python letters.py > ../../src/tokens/letters.rs

Asked of the `tokenizers` package itself, character by character: its tables are those that the
model was trained with, and do not change with a new version of Unicode.
"""

from tokenizers import pre_tokenizers

DIGITS = pre_tokenizers.Digits(individual_digits=True)
REST = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def is_one(text):
    return len(REST.pre_tokenize_str(text)) == 1


def kind(letter):
    if len(DIGITS.pre_tokenize_str("a" + letter)) == 2:
        return "number"
    if is_one("a" + letter):
        return "letter"
    if is_one("." + letter):
        return "other"
    # The rest has to be blanks, or the pattern in split.rs is not the whole truth.
    assert is_one("\n" + letter) and letter.isspace(), hex(ord(letter))
    return "blank"


def borders(kinds, wanted):
    """Where characters of a kind begin and end, by turns."""
    found, inside = [], False
    for code, kind in enumerate(kinds + ["end"]):
        if (kind == wanted) != inside:
            found.append(code)
            inside = not inside
    return found


def table(name, doc, numbers):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: [u32; {len(numbers)}] = [")
    line = "   "
    for number in numbers:
        word = f" {number},"
        if len(line) + len(word) > 100:
            print(line)
            line = "   "
        line += word
    print(line + "\n];")


def main():
    codes = range(0x110000)
    kinds = ["other" if 0xD800 <= code < 0xE000 else kind(chr(code)) for code in codes]
    print("//! Which characters are letters and numbers to the tokeniser: where runs of them begin and end,")
    print("//! by turns. Made by `tests/reference/letters.py`.")
    table("LETTERS", "Letters.", borders(kinds, "letter"))
    table("NUMBERS", "Numbers of any kind.", borders(kinds, "number"))


main()
