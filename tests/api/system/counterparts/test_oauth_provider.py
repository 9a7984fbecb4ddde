"""The strict OAuth provider of the tests: PKCE is enforced, and refresh tokens work once."""

import base64
import hashlib
import secrets

import httpx
import pytest

from lib.http import plain_http
from lib.outside.counterparts import REDIRECT_URI, consent

VERIFIER = secrets.token_urlsafe(48)


def challenge():
    return base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def address(provider, **changes):
    query = {
        "response_type": "code", "client_id": provider.client["client_id"], "redirect_uri": REDIRECT_URI,
        "scope": "openid offline_access", "state": "s", "code_challenge": challenge(), "code_challenge_method": "S256", **changes,
    }  # fmt: skip
    return httpx.URL(f"{provider.url}/auth", params={name: value for name, value in query.items() if value})


def ask(provider, **fields):
    client = {name: provider.client[name] for name in ("client_id", "client_secret")}
    return plain_http.post(f"{provider.url}/token", data={**client, "redirect_uri": REDIRECT_URI, **fields})


@pytest.fixture
def tokens(provider):
    code, _ = consent(str(address(provider)), "ada")
    return ask(provider, grant_type="authorization_code", code=code, code_verifier=VERIFIER).json()


def test_a_user_connects(provider, tokens):
    told = plain_http.get(f"{provider.url}/me", headers={"Authorization": f"Bearer {tokens['access_token']}"}).json()
    assert told == {"sub": "ada", "email": "ada@example.org", "preferred_username": "ada"}


def test_pkce_is_enforced(provider):
    answer = plain_http.get(address(provider, code_challenge=None, code_challenge_method=None))
    assert "error=invalid_request" in answer.headers["location"]
    code, _ = consent(str(address(provider)), "ada")
    wrong = ask(provider, grant_type="authorization_code", code=code, code_verifier="x" * 43)
    assert wrong.json()["error"] == "invalid_grant"


def test_a_refresh_token_used_twice_ends_the_grant(provider, tokens):
    first = ask(provider, grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert first.status_code == 200
    assert ask(provider, grant_type="refresh_token", refresh_token=tokens["refresh_token"]).status_code == 400
    rotated = first.json()["refresh_token"]
    assert ask(provider, grant_type="refresh_token", refresh_token=rotated).status_code == 400
    headers = {"Authorization": f"Bearer {first.json()['access_token']}"}
    assert plain_http.get(f"{provider.url}/me", headers=headers).status_code == 401


def test_the_lifetime_can_be_set(provider):
    provider.set_lifetime(7)
    code, _ = consent(str(address(provider)), "ada")
    assert ask(provider, grant_type="authorization_code", code=code, code_verifier=VERIFIER).json()["expires_in"] == 7
    provider.set_lifetime(3600)


def test_an_answer_can_be_lost_after_the_exchange(provider, tokens):
    provider.fail("POST", "^/token$", drop=True)
    with pytest.raises(httpx.RemoteProtocolError):
        ask(provider, grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert ask(provider, grant_type="refresh_token", refresh_token=tokens["refresh_token"]).status_code == 400
