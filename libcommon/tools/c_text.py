"""Write text as C source. Used by the generators in this folder."""

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}

BYTES_PER_LINE = 20


def c_string(text):
    """One C string literal. Bytes outside ASCII become octal escapes of three digits, which cannot absorb a digit that follows."""
    out = []
    for char in text:
        if char in ESCAPES:
            out.append(ESCAPES[char])
        elif " " <= char <= "~":
            out.append(char)
        else:
            out.extend(f"\\{byte:03o}" for byte in char.encode())
    return '"' + "".join(out) + '"'


def c_bytes(name, text):
    """Lines that define `name` as a NUL-terminated array of char. For texts longer than ISO C allows in a string
    literal."""
    data = text.encode() + b"\0"
    if b"\0" in data[:-1]:
        raise ValueError(f"{name}: a NUL byte in the text")
    items = [str(byte) if byte < 128 else f"(char){byte}" for byte in data]
    lines = [f"static const char {name}[] __attribute__((unused)) = {{"]
    for start in range(0, len(items), BYTES_PER_LINE):
        lines.append("\t" + ",".join(items[start:start + BYTES_PER_LINE]) + ",")
    lines.append("};")
    return lines


def write_header(path, source, lines):
    """Write a header that names its source."""
    head = [f"/* Generated from {source}; edit that. */", "#pragma once", ""]
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(head + lines) + "\n")
