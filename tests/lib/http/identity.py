"""Signed identities (libcommon/crypto/identity.h), for tests that call a service without the gateway."""

import base64
import hashlib
import hmac
import time

import httpx
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC

NIL = "00000000-0000-0000-0000-000000000000"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign(secret, claims, method, target, request_id):
    """The value of X-Expops-Identity."""
    key = hmac.new(secret.encode(), claims.encode(), hashlib.sha256).digest()[:16]
    mac = CMAC(AES(key))
    mac.update(f"{method} {target}\n{request_id}".encode())
    return f"{encode(claims.encode())}.{encode(mac.finalize())}"


class Identity(httpx.Auth):
    """Signs requests as `sender` does for `receiver`. For the argument `auth` of httpx: plain_http.get(url, auth=...)."""

    def __init__(self, secret, sender, receiver, kind, account=NIL, scopes=0xFFFFFFFF, age_ms=0, repo=None):
        self.secret, self.sender, self.receiver, self.kind = secret, sender, receiver, kind
        self.account, self.scopes, self.age_ms = account, scopes, age_ms
        self.repo = repo  # that a key proves to be the account's

    def header(self, method, target, request_id):
        signed_ms = int(time.time() * 1000) - self.age_ms
        claims = f"3|{self.sender}|{self.receiver}|{self.account}|{NIL}|{self.kind}|{self.scopes:x}|{signed_ms}"
        claims += f"|{self.repo}||verified" if self.repo else "|||"
        return sign(self.secret, claims, method, target, request_id)

    def auth_flow(self, request):
        request_id = request.headers.setdefault("X-Request-Id", "test")
        request.headers["X-Expops-Identity"] = self.header(request.method, request.url.raw_path.decode(), request_id)
        yield request


def identity(cluster, receiver, kind="personal", sender=None, **claims):
    """What the gateway signs for a caller, or with kind="service" what svc-interests signs."""
    sender = sender or ("svc-interests" if kind == "service" else "gateway")
    return Identity(cluster.pair_secret(sender, receiver), sender, receiver, kind, **claims)
