"""API keys: their text (gateway/key/key_text.h), and what a gateway knows of changes (gateway/key/key_watch.h)."""

import secrets
import zlib

from lib.wait import wait_for

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def checksum(text):
    """The last six characters of the key that starts with `text`."""
    crc, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        crc, digit = divmod(crc, 62)
        digits = BASE62[digit] + digits
    return digits


def key_changes_heard(gateway):
    """How many changes of keys it has heard of, with all that were committed before: the first look to come may have begun."""
    looks = gateway.metric("expops_key_looks_total")
    wait_for(lambda: gateway.metric("expops_key_looks_total") >= looks + 2, "the gateway has looked twice")
    return gateway.metric("expops_key_changes_heard_total")


def new_key(prefix="usr_"):
    text = prefix + "".join(secrets.choice(BASE62) for _ in range(32))
    return text + checksum(text)
