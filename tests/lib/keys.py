"""The form of an API key's text."""

import zlib

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def checksum(text):
    """The last six characters of the key that starts with `text`."""
    crc, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        crc, digit = divmod(crc, 62)
        digits = BASE62[digit] + digits
    return digits
