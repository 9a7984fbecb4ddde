"""INTERESTS_MAX and ACTIVE_INTERESTS_MAX: how many interests an account may have, also when many are made at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.tables import interests as interests_tables

MAX, ACTIVE_MAX = 500, 100  # the defaults


@pytest.fixture
def fill(db, user):
    """fill(active, inactive): as many interests as if the account had made them."""

    def run(active, inactive=0):
        names = [f"filler {n}" for n in range(active + inactive)]
        interests_tables.add_interests(db, user.account, names[:active])
        interests_tables.add_interests(db, user.account, names[active:], is_active=False)

    return run


@pytest.fixture
def count(db, user):
    """count(): (interests, active ones) of the account."""
    return lambda: interests_tables.count_interests(db, user.account)


def at_once(number, call):
    """The statuses of call(0) to call(number - 1), sorted."""
    with ThreadPoolExecutor(number) as pool:
        return sorted(answer.status_code for answer in pool.map(call, range(number)))


def body(number, **members):
    return {"name": f"new {number}", "context": "x", **members}


def test_interests_are_bounded(api, fill, count):
    fill(0, MAX - 2)
    assert at_once(8, lambda number: api.post("/interests", body(number, is_active=False))) == [201] * 2 + [409] * 6
    assert count() == (MAX, 0)
    document = api.problem("POST", "/interests", 409, "conflict", body(9))
    assert f"may have {MAX} interests" in document["detail"]
    last = api.get("/interests?limit=1", expect=200).json()[0]
    api.put(f"/interests/{last['id']}", {"name": "changed", "is_active": True}, expect=200)
    api.delete(f"/interests/{last['id']}", expect=200)
    api.post("/interests", body(10), expect=201)


def test_active_interests_are_bounded(api, fill, count):
    fill(ACTIVE_MAX - 3)
    assert at_once(9, lambda number: api.post("/interests", body(number))) == [201] * 3 + [409] * 6
    assert count() == (ACTIVE_MAX, ACTIVE_MAX)
    document = api.problem("POST", "/interests", 409, "conflict", body(10))
    assert f"may have {ACTIVE_MAX} active interests" in document["detail"]
    api.post("/interests", body(11, is_active=False), expect=201)


@pytest.mark.parametrize("way", ["toggle", "update", "both"])
def test_activating_is_bounded(api, fill, count, way):
    fill(ACTIVE_MAX - 2)
    made = [api.post("/interests", body(number, is_active=False), expect=201).json()["id"] for number in range(6)]

    def activate(number):
        if way == "toggle" or (way == "both" and number % 2):
            return api.post(f"/interests/{made[number]}/toggle")
        return api.put(f"/interests/{made[number]}", {"is_active": True})

    assert at_once(6, activate) == [200] * 2 + [409] * 4
    assert count()[1] == ACTIVE_MAX
    active = [row["id"] for row in api.get("/interests?limit=100", expect=200).json() if row["is_active"]]
    api.put(f"/interests/{active[0]}", {"is_active": True, "daily_count": 4}, expect=200)
    assert api.post(f"/interests/{active[0]}/toggle", expect=200).json()["is_active"] is False
    free = [one for one in made if one not in active]
    api.put(f"/interests/{free[0]}", {"is_active": True}, expect=200)
    api.put(f"/interests/{free[1]}", {"is_active": True}, expect=409)
    api.post(f"/interests/{free[1]}/toggle", expect=409)
    assert count()[1] == ACTIVE_MAX


def test_an_old_version_is_412_also_at_the_bound(api, fill):
    fill(ACTIVE_MAX)
    made = api.post("/interests", body(1, is_active=False), expect=201).json()
    path = f"/interests/{made['id']}"
    tag = api.get(path, expect=200).headers["ETag"]
    api.put(path, {"name": "changed"}, expect=200)
    api.put(path, {"is_active": True}, headers={"If-Match": tag}, expect=412)


def test_interests_are_counted(api, user, db, fill):
    fill(2, 3)
    made = [api.post("/interests", body(number), expect=201).json()["id"] for number in range(4)]
    api.post(f"/interests/{made[0]}/toggle", expect=200)
    api.put(f"/interests/{made[1]}", {"is_active": False, "daily_count": 5}, expect=200)
    api.put(f"/interests/{made[1]}", {"is_active": False, "daily_count": 6}, expect=200)
    api.delete(f"/interests/{made[1]}", expect=200)
    api.delete(f"/interests/{made[2]}", expect=200)
    assert interests_tables.kept_counts(db, user.account) == (7, 3)


def test_accounts_do_not_share_their_bounds(api, other_user, fill):
    fill(ACTIVE_MAX, MAX - ACTIVE_MAX)
    api.problem("POST", "/interests", 409, "conflict", body(1))
    other_user.api.post("/interests", body(1), expect=201)
