"""Digests: at an hour of a time zone, after the day's refresh, each date once."""

from datetime import UTC, datetime, timedelta

import pytest

from lib.check import messages
from lib.http.contract import contract
from lib.outside.receiver import Receiver, verify, webhook
from lib.system.kill_points import KillPoints
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.tables import interests as interests_tables
from lib.wait import wait_for

EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]
SETTINGS = {"hour": 8, "time_zone": "Europe/Berlin", "weekdays": EVERY_DAY, "min_score": 0}


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def hours(cluster):
    with cluster.postgres.connect("integrations") as made:
        yield made


@pytest.fixture
def interests(cluster):
    with cluster.postgres.connect("interests") as made:
        yield made


@pytest.fixture
def recommended(api, interests):
    """recommended(name): a new interest for which three papers were recommended; they, the best first. Its words are in no paper, so
    the day's refresh adds none of those that other tests have left."""

    def make(name="Ranking"):
        body = {"name": name, "context": "qzxvwkj hgfzxqw", "sources": ["medrxiv"], "is_active": False}
        id = api.post("/interests", body, expect=201).json()["id"]
        return interests_tables.recommend_three(interests, id)

    return make


def endpoint(api, receiver, **changes):
    return webhook(api, receiver.url, events=["digest.ready"], digest={**SETTINGS, **changes})


def told(hours, endpoint):
    """Wait until the date is over; the dates that svc-interests was told."""
    wait_for(lambda: integrations_tables.digest_is_over(hours, endpoint["id"]), "the date is over")
    return [event.data["local_date"] for event in common.outbox(hours, endpoint_id=endpoint["id"]) if event.type == "digest.due"]


def settled(interests, user):
    """Wait until no digest of the account is under way."""
    wait_for(lambda: interests_tables.waiting_digests(interests, user.account) == 0
             and not {task.status for task in tasks(interests, user)} & {"pending", "running"}, "no digest is under way")


def tasks(interests, user):
    return [task for task in common.tasks(interests, "digest") if str(task.account_id) == user.account]


def test_a_digest_has_the_papers_since_the_one_before_that_are_not_rated(api, user, hours, interests, receiver, recommended):
    papers = recommended()
    api.post(f"/papers/recommended/{papers[0]['recommendation_id']}/feedback", {"signal": "like"}, expect=200)
    made = endpoint(api, receiver)
    integrations_tables.digest_comes(hours, made["id"])
    (body,) = receiver.wait(1)
    contract().validate(messages.described()["digest.ready"], body, "the digest")
    assert verify(made["secret"], receiver.got) == ["ok"]
    data, today = body["data"], str(datetime.now(UTC).date())
    assert (data["local_date"], data["time_zone"], data["period"], data["total"]) == (today, "Europe/Berlin", "today", len(papers) - 1)
    (interest,) = data["interests"]
    assert (interest["name"], interest["count"]) == ("Ranking", len(papers) - 1)
    assert [one["recommendation_id"] for one in interest["recommendations"]] == [one["recommendation_id"] for one in papers[1:]]
    assert interest["recommendations"][0]["authors"] == ["A", "B", "C"] and data["url"] == f"{api.url}/console/"
    integrations_tables.digest_comes(hours, made["id"], days=1)  # nothing new
    assert len(told(hours, made)) == 2
    wait_for(lambda: len(tasks(interests, user)) == 2)
    settled(interests, user)
    assert len(receiver.got) == 1
    api.patch(f"/webhooks/{made['id']}", {"digest": {**SETTINGS, "skip_empty": False}}, expect=200)
    integrations_tables.digest_comes(hours, made["id"], days=2)
    (_, empty) = receiver.wait(2)
    assert (empty["data"]["message"], empty["data"]["interests"], empty["data"]["total"]) == ("Nothing new above the threshold.", [], 0)
    api.patch(f"/webhooks/{made['id']}", {"digest": {**SETTINGS, "period": "week", "limit": 1}}, expect=200)
    integrations_tables.digest_comes(hours, made["id"], days=3)
    again = receiver.wait(3)[2]["data"]
    assert (again["total"], len(again["interests"][0]["recommendations"]), again["truncated"]) == (len(papers) - 1, 1, False)


def test_a_digest_is_of_the_interests_and_above_the_score_that_it_names(api, hours, receiver, recommended):
    first, second = recommended("A"), recommended("B")
    score = second[0]["relevance_score"]
    made = endpoint(api, receiver, interest_ids=[second[0]["interest_id"]], min_score=score)
    integrations_tables.digest_comes(hours, made["id"])
    (body,) = receiver.wait(1)
    assert [one["id"] for one in body["data"]["interests"]] == [second[0]["interest_id"]] != [first[0]["interest_id"]]
    assert body["data"]["total"] == len([one for one in second if one["relevance_score"] >= score])


def test_an_endpoint_gets_no_digest_but_its_own(api, hours, recommended, receiver):
    recommended()
    with Receiver() as other, Receiver() as everything:
        webhook(api, other.url, events=["digest.ready"])
        webhook(api, everything.url, events=["*"])
        for made in (endpoint(api, receiver), endpoint(api, receiver)):
            integrations_tables.digest_comes(hours, made["id"])
        assert len({body["id"] for body in receiver.wait(2)}) == 2 and other.got == []
        assert "digest.ready" not in [body["type"] for body in everything.bodies()]


def test_many_interests_share_twenty_papers_and_fit(api, user, hours, interests, receiver, recommended):
    papers = recommended()
    interests_tables.copy_interest(interests, papers[0]["interest_id"], 30, "because " * 200)
    integrations_tables.digest_comes(hours, endpoint(api, receiver)["id"])
    data = receiver.wait(1)[0]["data"]
    shown = [len(one["recommendations"]) for one in data["interests"]]
    assert sum(shown) == 20 and max(shown) == 1 and data["truncated"] is True and data["total"] == 31 * len(papers)
    assert len(receiver.got[0][1]) <= 20480 and len(data["interests"]) == 20


# ---- after the refresh ----


@pytest.fixture
def refresh(interests):
    """refresh(is_over): whether the daily run has come to all accounts."""
    yield lambda is_over: interests_tables.end_daily_run(interests, is_over)
    interests_tables.end_daily_run(interests, True)


def waits(interests, user):
    """Wait until a digest of the account waits for the refresh."""
    wait_for(lambda: interests_tables.waiting_digests(interests, user.account), "the digest waits")


def test_a_digest_waits_for_the_refresh(api, user, hours, interests, receiver, recommended, refresh):
    papers = recommended()
    made = endpoint(api, receiver)
    refresh(False)
    integrations_tables.digest_comes(hours, made["id"])
    waits(interests, user)
    task = interests_tables.put_refresh_of_day(interests, user.account)
    refresh(True)
    assert interests_tables.is_refreshed(interests, user.account) is False
    common.drop_task(interests, task)
    assert receiver.wait(1)[0]["data"]["total"] == len(papers)


def test_a_digest_waits_two_hours_at_most(api, user, hours, interests, receiver, recommended, refresh):
    recommended()
    made = endpoint(api, receiver)
    refresh(False)
    integrations_tables.digest_comes(hours, made["id"], ago="1 hour")
    waits(interests, user)
    assert receiver.got == []
    interests_tables.age_waiting_digests(interests, user.account, 2)
    receiver.wait(1)


def test_an_account_without_interests_waits_for_nothing(api, hours, receiver, refresh):
    refresh(False)
    integrations_tables.digest_comes(hours, endpoint(api, receiver, skip_empty=False)["id"])
    assert receiver.wait(1)[0]["data"]["total"] == 0


def test_papers_of_a_refresh_under_way_are_not_lost(cluster, api, user, hours, interests, receiver, recommended):
    """The digest waits for the transaction that stores them, and has them."""
    papers = recommended()
    made = endpoint(api, receiver)
    interests_tables.keep_recommendation(interests, user.account, papers[0]["recommendation_id"])
    with cluster.postgres.connect("interests") as other, other.transaction():
        interests_tables.lock_interests(other, user.account)
        integrations_tables.digest_comes(hours, made["id"])
        wait_for(lambda: common.blocked(interests, "interests", "digest_make"), "the digest waits")
        interests_tables.recommend_beside(other, papers[0]["recommendation_id"], papers[1]["resource_id"])
    assert receiver.wait(1)[0]["data"]["total"] == 2


# ---- once ----


def test_a_date_is_told_once_however_many_look(cluster, api, hours, receiver):
    made = endpoint(api, receiver)
    with cluster.postgres.connect("integrations") as other:
        with other.transaction():
            integrations_tables.digest_comes(other, made["id"])
            integrations_tables.announce_digests(other, 100)
            assert integrations_tables.announce_digests(hours, 100) == 0
    assert len(told(hours, made)) == 1


def test_processes_that_are_killed_send_no_digest_twice_and_lose_none(cluster, api, user, hours, interests, receiver, recommended):
    recommended()
    made = endpoint(api, receiver)
    for service, db, table, where in (("svc-integrations", hours, "endpoint_digest", "NEW.last_date IS NOT NULL"),
                                      ("svc-interests", interests, "task", "NEW.kind = 'digest' AND NEW.status = 'completed'")):
        points = KillPoints(cluster, service, db, [table])
        points.hold(table, where)
        if service == "svc-integrations":
            integrations_tables.digest_comes(hours, made["id"])
        points.wait()
        points.kill()
        points.release()
    receiver.wait(1)
    integrations_tables.digest_comes(hours, made["id"], days=1)
    told(hours, made)
    settled(interests, user)
    assert len(receiver.got) == 1 and len(told(hours, made)) == 2


@pytest.mark.parametrize("ago, is_told", [("5 hours 59 minutes", True), ("6 hours 1 minute", False)])
def test_a_date_that_is_late_is_told_for_six_hours(api, hours, receiver, ago, is_told):
    made = endpoint(api, receiver, skip_empty=False)
    integrations_tables.digest_comes(hours, made["id"], ago=ago)
    assert len(told(hours, made)) == is_told
    receiver.wait(int(is_told))


def test_after_some_days_without_processes_only_the_last_date_is_told(api, hours, receiver):
    now = datetime.now(UTC)
    made = endpoint(api, receiver, skip_empty=False, time_zone="UTC", hour=(now - timedelta(hours=2)).hour, minute=now.minute)
    integrations_tables.digest_was_due(hours, made["id"], 4)
    assert told(hours, made) == [str((now - timedelta(hours=2)).date())]


def test_a_paused_endpoint_skips_its_dates(api, hours, receiver):
    made = endpoint(api, receiver, skip_empty=False)
    api.patch(f"/webhooks/{made['id']}", {"status": "paused"}, expect=200)
    integrations_tables.digest_comes(hours, made["id"])
    assert told(hours, made) == []


def test_a_change_of_the_hour_or_the_zone_tells_no_date_again(api, hours, receiver):
    made = endpoint(api, receiver, skip_empty=False, time_zone="UTC")
    integrations_tables.digest_comes(hours, made["id"])
    assert len(told(hours, made)) == 1
    tomorrow = str(datetime.now(UTC).date() + timedelta(days=1))
    path = f"/webhooks/{made['id']}"
    for change in ({"time_zone": "Pacific/Pago_Pago", "hour": 23, "minute": 59}, {"time_zone": "UTC", "hour": 23, "minute": 59}):
        api.patch(path, {"digest": None}, expect=200)
        changed = api.patch(path, {"digest": {**SETTINGS, **change}}, expect=200).json()
        assert str(integrations_tables.next_digest(hours, made["id"])) == tomorrow and changed["digest"]["hour"] == 23


def test_a_digest_whose_time_zone_exists_no_more_goes_on_by_utc(api, hours, receiver):
    """The database takes its time zones from a system that is upgraded."""
    made = endpoint(api, receiver, skip_empty=False)
    integrations_tables.lose_time_zone(hours, made["id"])
    integrations_tables.digest_comes(hours, made["id"])
    assert len(told(hours, made)) == 1
    digest = api.get(f"/webhooks/{made['id']}", expect=200).json()["digest"]
    assert digest["next_at"].endswith("T08:00:00.000Z") and digest["time_zone"] == "Europe/Atlantis"


# ---- clocks ----


@pytest.mark.parametrize("zone, at, moment, dates", [
    # Of a time that does not exist the time after the gap is meant, of one that exists twice the second.
    ("Europe/Berlin", "02:30", "2026-03-28T12:00Z", {"2026-03-29": "2026-03-29T01:30Z", "2026-03-30": "2026-03-30T00:30Z"}),
    ("Europe/Berlin", "02:30", "2026-10-24T12:00Z", {"2026-10-25": "2026-10-25T01:30Z", "2026-10-26": "2026-10-26T01:30Z"}),
    ("Europe/Berlin", "08:00", "2026-03-28T12:00Z", {"2026-03-29": "2026-03-29T06:00Z"}),
    ("America/New_York", "02:30", "2026-03-07T12:00Z", {"2026-03-08": "2026-03-08T07:30Z", "2026-03-09": "2026-03-09T06:30Z"}),
    ("America/New_York", "01:30", "2026-10-31T12:00Z", {"2026-11-01": "2026-11-01T06:30Z", "2026-11-02": "2026-11-02T06:30Z"}),
    ("Australia/Lord_Howe", "02:15", "2026-10-03T02:00Z", {"2026-10-04": "2026-10-03T15:45Z", "2026-10-05": "2026-10-04T15:15Z"}),
    ("Australia/Lord_Howe", "01:45", "2026-04-04T02:00Z", {"2026-04-05": "2026-04-04T15:15Z", "2026-04-06": "2026-04-05T15:15Z"}),
    ("Africa/Cairo", "00:00", "2026-04-23T12:00Z", {"2026-04-24": "2026-04-23T22:00Z", "2026-04-25": "2026-04-24T21:00Z"}),
    ("Africa/Cairo", "23:30", "2026-10-29T12:00Z", {"2026-10-29": "2026-10-29T21:30Z", "2026-10-30": "2026-10-30T21:30Z"}),
    ("America/Scoresbysund", "23:30", "2026-03-28T12:00Z", {"2026-03-28": "2026-03-29T01:30Z", "2026-03-29": "2026-03-30T00:30Z"}),
    ("Pacific/Kiritimati", "00:00", "2026-01-01T09:59Z", {"2026-01-02": "2026-01-01T10:00Z"}),
])
def test_each_date_has_one_time_also_when_clocks_change(hours, zone, at, moment, dates):
    times = integrations_tables.digest_times(hours, zone, *map(int, at.split(":")), moment, len(dates))
    assert {str(date): time.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ") for date, time in times} == dates


@pytest.mark.parametrize("weekdays, days", [([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), ([7], [7]), ([1.0, 4, 1e0], [1, 4])])
def test_a_digest_comes_on_its_weekdays_only(hours, api, receiver, weekdays, days):
    made = endpoint(api, receiver, weekdays=weekdays)
    assert made["digest"]["weekdays"] == days
    found = set()
    for _ in range(10):
        integrations_tables.pass_digest(hours, made["id"])
        found |= {integrations_tables.next_digest(hours, made["id"]).isoweekday()}
    assert found == set(days)


# ---- settings ----


def test_a_digest_is_set_shown_changed_and_switched_off(api, receiver):
    made = webhook(api, receiver.url, digest={"hour": 8, "time_zone": "Europe/Berlin"})
    shown = made["digest"]
    assert shown.pop("next_at")[11:] in ("06:00:00.000Z", "07:00:00.000Z")
    assert shown == {"hour": 8, "minute": 0, "time_zone": "Europe/Berlin", "weekdays": [1, 2, 3, 4, 5], "interest_ids": None,
                     "limit": 5, "min_score": 0.4, "skip_empty": True, "period": "today"}
    path = f"/webhooks/{made['id']}"
    assert api.patch(path, {"name": "x"}, expect=200).json()["digest"]["hour"] == 8
    sent_back = api.patch(path, {"digest": api.get(path, expect=200).json()["digest"]}, expect=200).json()["digest"]
    assert {**shown, "next_at": sent_back["next_at"]} == sent_back
    assert api.patch(path, {"digest": None}, expect=200).json()["digest"] is None
    assert webhook(api, receiver.url)["digest"] is None


@pytest.mark.parametrize("change, field", [
    ({"hour": 24}, "digest.hour"), ({"minute": 60}, "digest.minute"), ({"hour": None}, "digest.hour"),
    ({"time_zone": "CET"}, "digest.time_zone"), ({"time_zone": "posix/Europe/Berlin"}, "digest.time_zone"), ({"time_zone": "Europe/Atlantis"}, "digest.time_zone"),
    ({"time_zone": "europe/berlin"}, "digest.time_zone"), ({"time_zone": "UTC+5"}, "digest.time_zone"), ({"time_zone": ""}, "digest.time_zone"),
    ({"weekdays": []}, "digest.weekdays"), ({"weekdays": [0]}, "digest.weekdays[0]"), ({"weekdays": [1, 8]}, "digest.weekdays[1]"),
    ({"weekdays": [1.5]}, "digest.weekdays[0]"), ({"weekdays": ["1"]}, "digest.weekdays[0]"), ({"weekdays": None}, "digest.weekdays"),
    ({"interest_ids": ["x"]}, "digest.interest_ids[0]"), ({"limit": 11}, "digest.limit"), ({"min_score": 1.1}, "digest.min_score"),
    ({"skip_empty": "no"}, "digest.skip_empty"), ({"period": "all"}, "digest.period"),
])
def test_a_fault_of_a_digest_names_its_field(api, receiver, change, field):
    digest = {**SETTINGS, **change}
    body = {"kind": "webhook", "url": receiver.url, "events": ["*"], "digest": digest}
    made = webhook(api, receiver.url)
    for method, path, given in (("POST", "/webhooks", body), ("PATCH", f"/webhooks/{made['id']}", {"digest": digest})):
        assert [fault["field"] for fault in api.problem(method, path, 400, "invalid_request", given)["errors"]] == [field]


@pytest.mark.parametrize("zone", ["UTC", "America/Argentina/Ushuaia", "Etc/GMT+12"])
def test_time_zones(api, receiver, zone):
    assert endpoint(api, receiver, time_zone=zone)["digest"]["time_zone"] == zone
