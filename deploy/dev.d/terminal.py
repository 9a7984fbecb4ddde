"""Text from outside, for a terminal: as libcommon/base/terminal.h shows it.

usage: terminal.py   copies standard input to standard output, so that a terminal obeys nothing in it
"""

import os
import re
import sys

# ASCII's and Latin-1's control characters, those that set the direction of text, and separators of lines and paragraphs. Bytes that
# are not UTF-8 are lone surrogates (PEP 383).
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")
KEPT = re.compile(OBEYED.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
SHORT = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r"}


def escape(match):
    character = match[0]
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return SHORT.get(character, f"\\u{ord(character):04x}")


def shown(text):
    """A part of a line."""
    return OBEYED.sub(escape, str(text))


def shown_lines(text):
    """Text that may have several lines."""
    return KEPT.sub(escape, str(text))


def main():
    for line in iter(sys.stdin.buffer.readline, b""):
        sys.stdout.buffer.write(shown_lines(line.decode(errors="surrogateescape")).encode())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
