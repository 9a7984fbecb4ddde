"""Rate limits: one bucket for each key, and the RateLimit fields."""

import re

import pytest

from lib.client import Api

RATE = 3


@pytest.fixture(scope="module")
def limited(start_gateway):
    """URL of a gateway that allows RATE requests a second."""
    with start_gateway(RATE_LIMIT=str(RATE)) as process:
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
