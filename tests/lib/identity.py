"""Signed identities (libcommon/base/identity.h), for tests that call a service without the gateway."""

import base64
import hashlib
import hmac
import time

VALID_MS = 3600000  # longer than any test


def signed(cluster, kind, scopes=0xFFFFFFFF):
    """The header with the identity of the caller."""

    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    nil = "00000000-0000-0000-0000-000000000000"
    expiry = int(time.time() * 1000) + VALID_MS
    fields = f"1|{nil}|{nil}|{kind}|{scopes:x}|{expiry}|||test".encode()
    mac = hmac.new(cluster.identity_secret.encode(), fields, hashlib.sha256).digest()
    return {"X-Expops-Identity": f"{encode(fields)}.{encode(mac)}"}
