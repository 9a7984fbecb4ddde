"""An OpenID provider that says what a test wants: any claims, any signature, any answer.

    issuer = LyingIssuer()
    issuer.claims = {"aud": "somebody else"}     # in place of what an honest provider says; None: left out
    issuer.signer = "none"                       # RS256, ES256, none, HS256 with the public key as secret, foreign
    issuer.answers["/token"] = lambda request: request.reply(500, "")
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from lib.outside.counterparts import LOGIN_PUBLIC_URL
from lib.outside.stub_server import StubServer


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, length):
    return base64url(value.to_bytes(length, "big"))


class LyingIssuer:
    CLIENT, SECRET = "us", "hush"

    def __init__(self):
        self.rsa, self.foreign = (rsa.generate_private_key(65537, 2048) for _ in range(2))
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.server = StubServer(self.answer)
        self.url = self.server.url
        self.reset()

    def reset(self):
        """Be honest again."""
        self.claims, self.header, self.metadata, self.userinfo = {}, {}, {}, {}
        self.signer = "RS256"
        self.nonces = {}  # by code
        self.answers = {}  # by path: functions of the request

    def settings(self):
        return {"PUBLIC_URL": LOGIN_PUBLIC_URL, "OIDC_ISSUER": self.url, "OIDC_CLIENT_ID": self.CLIENT,
                "OIDC_CLIENT_SECRET": self.SECRET, "OIDC_TIMEOUT": "30s", "WORKERS": "1"}

    def paths(self):
        """Of the requests so far."""
        return [path for _, path, _, _ in self.server.requests]

    def code(self, asked):
        """A code for the authorization request with these parameters."""
        code = secrets.token_hex(8)
        self.nonces[code] = asked["nonce"]
        return code

    def close(self):
        self.server.close()

    # Answers

    def answer(self, request):
        path = request.path.partition("?")[0]
        other = self.answers.get(path)
        if other:
            other(request)
            return
        reply = {"/.well-known/openid-configuration": self.discovery, "/jwks": self.jwks, "/token": self.token,
                 "/userinfo": lambda _: self.userinfo}[path](request)
        request.reply(200, json.dumps(reply), Content_Type="application/json")

    def discovery(self, _):
        return {"issuer": self.url, "authorization_endpoint": f"{self.url}/auth", "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks", "userinfo_endpoint": f"{self.url}/userinfo", **self.metadata}

    def jwks(self, _):
        n, point = self.rsa.public_key().public_numbers(), self.ec.public_key().public_numbers()
        return {"keys": [
            {"kid": "for encryption", "kty": "RSA", "use": "enc", "n": number(n.n, 256), "e": "AQAB"},
            {"kid": "RS256", "kty": "RSA", "use": "sig", "alg": "RS256", "n": number(n.n, 256), "e": "AQAB"},
            {"kid": "ES256", "kty": "EC", "crv": "P-256", "x": number(point.x, 32), "y": number(point.y, 32)},
        ]}

    def token(self, request):
        code = parse_qs(request.body.decode())["code"][0]
        return {"access_token": "at", "token_type": "Bearer", "id_token": self.id_token(self.nonces[code])}

    def id_token(self, nonce):
        now = int(time.time())
        claims = {"iss": self.url, "sub": "ada", "aud": self.CLIENT, "nonce": nonce, "iat": now, "exp": now + 300,
                  "email": "ada@example.org", "email_verified": True, **self.claims}
        claims = {name: value for name, value in claims.items() if value is not None}
        algorithm, kid = {"foreign": ("RS256", "foreign"), "stolen kid": ("RS256", "RS256"), "none": ("none", "RS256"),
                          "HS256": ("HS256", "RS256")}.get(self.signer, (self.signer, self.signer))
        header = {"alg": algorithm, "kid": kid, "typ": "JWT", **self.header}
        text = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        return f"{text}.{base64url(self.signature(text.encode()))}"

    def signature(self, text):
        if self.signer == "none":
            return b""
        if self.signer == "HS256":
            form = serialization.PublicFormat.SubjectPublicKeyInfo
            pem = self.rsa.public_key().public_bytes(serialization.Encoding.PEM, form)
            return hmac.new(pem, text, hashlib.sha256).digest()
        if self.signer == "ES256":
            r, s = utils.decode_dss_signature(self.ec.sign(text, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        key = self.foreign if self.signer in ("foreign", "stolen kid") else self.rsa
        return key.sign(text, padding.PKCS1v15(), hashes.SHA256())
