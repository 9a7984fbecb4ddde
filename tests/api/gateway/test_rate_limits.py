"""Rate limits: one bucket for each key and each account, the RateLimit fields, and look-ups of unknown keys."""

import re

import pytest

from lib.http.client import Api
from lib.http.keys import checksum
from lib.wait import wait_for

RATE = 3


@pytest.fixture(scope="module")
def limited(start_gateway):
    """URL of a gateway that allows RATE requests a second."""
    with start_gateway(RATE_LIMIT=str(RATE), ACCOUNT_RATE_LIMIT="0") as process:
        yield process.url


@pytest.fixture(scope="module")
def account_limited(start_gateway):
    """URL of a gateway that allows RATE requests a second for an account, and more for each key."""
    with start_gateway(RATE_LIMIT="1000", ACCOUNT_RATE_LIMIT=str(RATE)) as process:
        yield process.url


def until_refused(api):
    """Send requests until one is refused with 429. Returns all answers. No bucket of RATE allows 200 in a row."""
    answers = []
    for _ in range(200):
        answers.append(api.get("/account/api-keys"))
        if answers[-1].status_code == 429:
            return answers
    raise AssertionError("200 requests in a row were allowed")


def test_over_the_rate_is_429(limited, user):
    *allowed, refused = until_refused(Api(limited, user.key))
    assert len(allowed) >= RATE
    assert {answer.status_code for answer in allowed} == {200}
    assert refused.json()["error"] == "rate_limited"
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.headers["RateLimit-Policy"] == f'"key";q={RATE};w=1'
    assert re.fullmatch(r'"key";r=0;t=\d+', refused.headers["RateLimit"])


def test_fields_count_down(limited, user):
    answer = Api(limited, user.key).get("/account/api-keys", expect=200)
    assert answer.headers["RateLimit"] == f'"key";r={RATE - 1};t=1'


def test_each_key_has_its_own_bucket(limited, user, other_user):
    until_refused(Api(limited, user.key))
    Api(limited, other_user.key).get("/account/api-keys", expect=200)


def test_no_fields_without_a_limit(user):
    answer = user.api.get("/account/api-keys", expect=200)
    assert "RateLimit" not in answer.headers


def test_keys_of_an_account_share_its_bucket(account_limited, user, other_user):
    *_, refused = until_refused(Api(account_limited, user.key))
    assert refused.json()["detail"] == f"more than {RATE} requests a second with this account"
    assert refused.headers["RateLimit-Policy"] == f'"key";q=1000;w=1, "account";q={RATE};w=1'
    assert re.fullmatch(r'"account";r=0;t=\d+', refused.headers["RateLimit"])

    def new_key_is_refused():
        """Unless the bucket has been filled between the two requests."""
        key = user.api.post("/account/api-keys", {"name": "second"}, expect=201).json()["key"]
        until_refused(Api(account_limited, user.key))
        return Api(account_limited, key).get("/account/api-keys").status_code == 429

    wait_for(new_key_is_refused, "a key without requests is refused")
    Api(account_limited, other_user.key).get("/account/api-keys", expect=200)


def test_requests_without_a_key_are_limited_for_each_address(start_gateway):
    with start_gateway(OPEN_RATE_LIMIT=str(RATE)) as process:
        answers = [Api(process.url).get("/openapi.json") for _ in range(60)]
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert {answer.status_code for answer in answers} == {200, 429}
        assert refused.json()["detail"] == f"more than {RATE} requests a second from this address"
        assert refused.headers["RateLimit-Policy"] == f'"address";q={RATE};w=1'


def test_limits_are_on_by_default(cluster):
    values = dict(line.split("=", 1) for line in cluster.run("gateway", "--show-config", RATE_LIMIT="", OPEN_RATE_LIMIT="").splitlines())
    assert (values["RATE_LIMIT"], values["ACCOUNT_RATE_LIMIT"], values["OPEN_RATE_LIMIT"]) == ("1000", "2000", "200")


def unknown_key(number):
    text = f"usr_{number:032}"
    return text + checksum(text)


def test_unknown_keys_are_limited_for_each_address(start_gateway, user):
    """Keys that the gateway knows are still accepted from that address."""
    with start_gateway(KEY_LOOKUP_LIMIT="1") as process:
        known = Api(process.url, user.key)
        known.get("/account/api-keys", expect=200)
        answers = [Api(process.url, unknown_key(number)).get("/account/api-keys") for number in range(60)]
        statuses = {answer.status_code for answer in answers}
        assert statuses == {401, 429}
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["error"] == "rate_limited"
        assert refused.headers["Retry-After"] == "1"
        known.get("/account/api-keys", expect=200)
