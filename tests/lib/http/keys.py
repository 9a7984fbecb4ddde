"""The text of an API key (gateway/key/key_text.h)."""

import secrets
import zlib

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def checksum(text):
    """The last six characters of the key that starts with `text`."""
    crc, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        crc, digit = divmod(crc, 62)
        digits = BASE62[digit] + digits
    return digits


def new_key(prefix="usr_"):
    text = prefix + "".join(secrets.choice(BASE62) for _ in range(32))
    return text + checksum(text)
