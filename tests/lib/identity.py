"""Identity between processes (libcommon/identity.h), for tests that ask a service past the gateway."""

import base64
import hashlib
import hmac
import time

LIFE_MS = 3600000  # longer than any test


def signed(cluster, kind, scopes=0xFFFFFFFF):
    """The header in which a process says for whom it asks (libcommon/identity.h)."""

    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    nobody = "00000000-0000-0000-0000-000000000000"
    expiry = int(time.time() * 1000) + LIFE_MS
    fields = f"1|{nobody}|{nobody}|{kind}|{scopes:x}|{expiry}|||test".encode()
    mac = hmac.new(cluster.identity_secret.encode(), fields, hashlib.sha256).digest()
    return {"X-Expops-Identity": f"{encode(fields)}.{encode(mac)}"}
