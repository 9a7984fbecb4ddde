"""Digests: at an hour of a time zone, after the day's refresh, each date once."""

from datetime import UTC, datetime, timedelta

import pytest

from lib.check import messages
from lib.http.contract import contract
from lib.outside.receiver import Receiver, verify, webhook
from lib.system.kill_points import KillPoints
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
        interests.execute(
            "WITH papers AS (INSERT INTO paper (arxiv_id, asset, abstract, version)"
            " SELECT '2205.9900' || n, jsonb_build_object('arxiv_id', '2205.9900' || n, 'title', 'Paper ' || n, 'url', 'https://arxiv.org/abs/2205.9900' || n,"
            " 'authors', '[\"A\", \"B\", \"C\", \"D\"]'::jsonb), 'abstract', 1 FROM generate_series(1, 3) n"
            " ON CONFLICT (arxiv_id) DO UPDATE SET version = 1 RETURNING arxiv_id)"
            " INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning)"
            " SELECT i.id, i.account_id, p.arxiv_id, i.context_version, 1 - right(p.arxiv_id, 1)::float / 10, right(p.arxiv_id, 1)::int, 'because'"
            " FROM interest i, papers p WHERE i.id = %s", [id])
        interests.execute("UPDATE interest SET is_active = true WHERE id = %s", [id])
        columns = ("recommendation_id", "interest_id", "resource_id", "relevance_score")
        rows = interests.execute("SELECT id::text, interest_id::text, arxiv_id, relevance_score FROM recommendation WHERE interest_id = %s"
                                 " ORDER BY rank", [id]).fetchall()
        return [dict(zip(columns, row)) for row in rows]

    return make


def endpoint(api, receiver, **changes):
    return webhook(api, receiver.url, events=["digest.ready"], digest={**SETTINGS, **changes})


def come(hours, endpoint, ago="0", days=0):
    """Let the next date of the endpoint's digest be today and some days, and have come so long ago."""
    hours.execute("UPDATE endpoint_digest SET next_at = now() - %s::interval, next_date = (now() AT TIME ZONE 'UTC')::date + %s"
                  " WHERE endpoint_id = %s", [ago, days, endpoint["id"]])


def told(hours, endpoint):
    """Wait until the date is over; the dates that svc-interests was told."""
    wait_for(lambda: hours.execute("SELECT 1 FROM endpoint_digest WHERE endpoint_id = %s AND next_at > now()", [endpoint["id"]]).fetchone())
    rows = hours.execute("SELECT data ->> 'local_date' FROM outbox WHERE type = 'digest.due' AND data ->> 'endpoint_id' = %s", [endpoint["id"]])
    return [date for (date,) in rows.fetchall()]


def settled(interests, user):
    """Wait until no digest of the account is under way."""
    wait_for(lambda: interests.execute("SELECT count(*) FROM digest_due WHERE account_id = %s", [user.account]).fetchone() == (0,)
             and interests.execute("SELECT 1 FROM task WHERE kind = 'digest' AND account_id = %s AND status IN ('pending', 'running')",
                                   [user.account]).fetchone() is None)


def tasks(interests, user):
    return interests.execute("SELECT count(*) FROM task WHERE kind = 'digest' AND account_id = %s", [user.account]).fetchone()[0]


def test_a_digest_has_the_papers_since_the_one_before_that_are_not_rated(api, user, hours, interests, receiver, recommended):
    papers = recommended()
    api.post(f"/papers/recommended/{papers[0]['recommendation_id']}/feedback", {"signal": "like"}, expect=200)
    made = endpoint(api, receiver)
    come(hours, made)
    (body,) = receiver.wait(1)
    contract().validate(messages.described()["digest.ready"], body, "the digest")
    assert verify(made["secret"], receiver.got) == ["ok"]
    data, today = body["data"], str(datetime.now(UTC).date())
    assert (data["local_date"], data["time_zone"], data["period"], data["total"]) == (today, "Europe/Berlin", "today", len(papers) - 1)
    (interest,) = data["interests"]
    assert (interest["name"], interest["count"]) == ("Ranking", len(papers) - 1)
    assert [one["recommendation_id"] for one in interest["recommendations"]] == [one["recommendation_id"] for one in papers[1:]]
    assert interest["recommendations"][0]["authors"] == ["A", "B", "C"] and data["url"] == f"{api.url}/console/"
    come(hours, made, days=1)  # nothing new
    assert len(told(hours, made)) == 2
    wait_for(lambda: tasks(interests, user) == 2)
    settled(interests, user)
    assert len(receiver.got) == 1
    api.patch(f"/webhooks/{made['id']}", {"digest": {**SETTINGS, "skip_empty": False}}, expect=200)
    come(hours, made, days=2)
    (_, empty) = receiver.wait(2)
    assert (empty["data"]["message"], empty["data"]["interests"], empty["data"]["total"]) == ("Nothing new above the threshold.", [], 0)
    api.patch(f"/webhooks/{made['id']}", {"digest": {**SETTINGS, "period": "week", "limit": 1}}, expect=200)
    come(hours, made, days=3)
    again = receiver.wait(3)[2]["data"]
    assert (again["total"], len(again["interests"][0]["recommendations"]), again["truncated"]) == (len(papers) - 1, 1, False)


def test_a_digest_is_of_the_interests_and_above_the_score_that_it_names(api, hours, receiver, recommended):
    first, second = recommended("A"), recommended("B")
    score = second[0]["relevance_score"]
    made = endpoint(api, receiver, interest_ids=[second[0]["interest_id"]], min_score=score)
    come(hours, made)
    (body,) = receiver.wait(1)
    assert [one["id"] for one in body["data"]["interests"]] == [second[0]["interest_id"]] != [first[0]["interest_id"]]
    assert body["data"]["total"] == len([one for one in second if one["relevance_score"] >= score])


def test_an_endpoint_gets_no_digest_but_its_own(api, hours, recommended, receiver):
    recommended()
    with Receiver() as other, Receiver() as everything:
        webhook(api, other.url, events=["digest.ready"])
        webhook(api, everything.url, events=["*"])
        for made in (endpoint(api, receiver), endpoint(api, receiver)):
            come(hours, made)
        assert len({body["id"] for body in receiver.wait(2)}) == 2 and other.got == []
        assert "digest.ready" not in [body["type"] for body in everything.bodies()]


def test_many_interests_share_twenty_papers_and_fit(api, user, hours, interests, receiver, recommended):
    papers = recommended()
    interests.execute(
        "WITH made AS (INSERT INTO interest SELECT (jsonb_populate_record(i, jsonb_build_object('id', uuid_v7(), 'experiment_history_id', uuid_v7(), 'name', 'interest ' || n))).*"
        " FROM interest i, generate_series(1, 30) n WHERE i.id = %s RETURNING id, account_id, context_version)"
        " INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning)"
        " SELECT m.id, m.account_id, r.arxiv_id, m.context_version, r.relevance_score, r.rank, repeat('because ', 200)"
        " FROM made m, recommendation r WHERE r.interest_id = %s", [papers[0]["interest_id"]] * 2)
    come(hours, endpoint(api, receiver))
    data = receiver.wait(1)[0]["data"]
    shown = [len(one["recommendations"]) for one in data["interests"]]
    assert sum(shown) == 20 and max(shown) == 1 and data["truncated"] is True and data["total"] == 31 * len(papers)
    assert len(receiver.got[0][1]) <= 20480 and len(data["interests"]) == 20


# ---- after the refresh ----


@pytest.fixture
def refresh(interests):
    """refresh(is_over): whether the daily run has come to all accounts."""

    def set_to(is_over):
        interests.execute("INSERT INTO daily_run (day, tasks) VALUES ((now() AT TIME ZONE 'UTC')::date, 0) ON CONFLICT (day) DO UPDATE"
                          " SET next_account = CASE WHEN NOT %s THEN '00000000-0000-0000-0000-000000000000'::uuid END", [is_over])

    yield set_to
    set_to(True)


def waits(interests, user):
    """Wait until a digest of the account waits for the refresh."""
    wait_for(lambda: interests.execute("SELECT 1 FROM digest_due WHERE account_id = %s", [user.account]).fetchone(), "the digest waits")


def test_a_digest_waits_for_the_refresh(api, user, hours, interests, receiver, recommended, refresh):
    papers = recommended()
    made = endpoint(api, receiver)
    refresh(False)
    come(hours, made)
    waits(interests, user)
    (task,) = interests.execute("SELECT (task_put('recommendations_refresh_all', %s, jsonb_build_object('day', (now() AT TIME ZONE 'UTC')::date),"
                                " NULL, NULL)).id", [user.account]).fetchone()
    interests.execute("UPDATE task SET status = 'pending', run_after = now() + interval '1 hour', turn = NULL WHERE id = %s", [task])
    refresh(True)
    assert interests.execute("SELECT day_is_refreshed(%s, (now() AT TIME ZONE 'UTC')::date)", [user.account]).fetchone() == (False,)
    interests.execute("DELETE FROM task WHERE id = %s", [task])
    assert receiver.wait(1)[0]["data"]["total"] == len(papers)


def test_a_digest_waits_two_hours_at_most(api, user, hours, interests, receiver, recommended, refresh):
    recommended()
    made = endpoint(api, receiver)
    refresh(False)
    come(hours, made, ago="1 hour")
    waits(interests, user)
    assert receiver.got == []
    interests.execute("UPDATE digest_due SET due_at = now() - interval '2 hours' WHERE account_id = %s", [user.account])
    receiver.wait(1)


def test_an_account_without_interests_waits_for_nothing(api, hours, receiver, refresh):
    refresh(False)
    come(hours, endpoint(api, receiver, skip_empty=False))
    assert receiver.wait(1)[0]["data"]["total"] == 0


def test_papers_of_a_refresh_under_way_are_not_lost(cluster, api, user, hours, interests, receiver, recommended):
    """The digest waits for the transaction that stores them, and has them."""
    papers = recommended()
    made = endpoint(api, receiver)
    interests.execute("DELETE FROM recommendation WHERE id <> %s AND account_id = %s", [papers[0]["recommendation_id"], user.account])
    with cluster.postgres.connect("interests") as other, other.transaction():
        other.execute("SELECT FROM interest WHERE account_id = %s FOR UPDATE", [user.account])
        come(hours, made)
        wait_for(lambda: interests.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%digest_make%'").fetchone())
        other.execute("INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning)"
                      " SELECT interest_id, account_id, %s, context_version, 0.1, 2, 'x' FROM recommendation WHERE id = %s",
                      [papers[1]["resource_id"], papers[0]["recommendation_id"]])
    assert receiver.wait(1)[0]["data"]["total"] == 2


# ---- once ----


def test_a_date_is_told_once_however_many_look(cluster, api, hours, receiver):
    made = endpoint(api, receiver)
    with cluster.postgres.connect("integrations") as other:
        with other.transaction():
            other.execute("UPDATE endpoint_digest SET next_at = now(), next_date = current_date WHERE endpoint_id = %s", [made["id"]])
            other.execute("SELECT digests_announce(100)")
            assert hours.execute("SELECT digests_announce(100)").fetchone() == (0,)
    assert len(told(hours, made)) == 1


def test_processes_that_are_killed_send_no_digest_twice_and_lose_none(cluster, api, user, hours, interests, receiver, recommended):
    recommended()
    made = endpoint(api, receiver)
    for service, db, table, where in (("svc-integrations", hours, "endpoint_digest", "NEW.last_date IS NOT NULL"),
                                      ("svc-interests", interests, "task", "NEW.kind = 'digest' AND NEW.status = 'completed'")):
        points = KillPoints(cluster, service, db, [table])
        points.hold(table, where)
        if service == "svc-integrations":
            come(hours, made)
        points.wait()
        points.kill()
        points.release()
    receiver.wait(1)
    come(hours, made, days=1)
    told(hours, made)
    settled(interests, user)
    assert len(receiver.got) == 1 and len(told(hours, made)) == 2


@pytest.mark.parametrize("ago, is_told", [("5 hours 59 minutes", True), ("6 hours 1 minute", False)])
def test_a_date_that_is_late_is_told_for_six_hours(api, hours, receiver, ago, is_told):
    made = endpoint(api, receiver, skip_empty=False)
    come(hours, made, ago=ago)
    assert len(told(hours, made)) == is_told
    receiver.wait(int(is_told))


def test_after_some_days_without_processes_only_the_last_date_is_told(api, hours, receiver):
    now = datetime.now(UTC)
    made = endpoint(api, receiver, skip_empty=False, time_zone="UTC", hour=(now - timedelta(hours=2)).hour, minute=now.minute)
    hours.execute("UPDATE endpoint_digest SET next_at = next_at - interval '4 days', next_date = next_date - 4 WHERE endpoint_id = %s", [made["id"]])
    assert told(hours, made) == [str((now - timedelta(hours=2)).date())]


def test_a_paused_endpoint_skips_its_dates(api, hours, receiver):
    made = endpoint(api, receiver, skip_empty=False)
    api.patch(f"/webhooks/{made['id']}", {"status": "paused"}, expect=200)
    come(hours, made)
    assert told(hours, made) == []


def test_a_change_of_the_hour_or_the_zone_tells_no_date_again(api, hours, receiver):
    made = endpoint(api, receiver, skip_empty=False, time_zone="UTC")
    come(hours, made)
    assert len(told(hours, made)) == 1
    tomorrow = str(datetime.now(UTC).date() + timedelta(days=1))
    path = f"/webhooks/{made['id']}"
    for change in ({"time_zone": "Pacific/Pago_Pago", "hour": 23, "minute": 59}, {"time_zone": "UTC", "hour": 23, "minute": 59}):
        api.patch(path, {"digest": None}, expect=200)
        changed = api.patch(path, {"digest": {**SETTINGS, **change}}, expect=200).json()
        (date,) = hours.execute("SELECT next_date::text FROM endpoint_digest WHERE endpoint_id = %s", [made["id"]]).fetchone()
        assert date == tomorrow and changed["digest"]["hour"] == 23


def test_a_time_zone_that_is_gone_switches_the_digest_off_and_stops_no_other(api, hours, receiver):
    gone, made = endpoint(api, receiver, skip_empty=False), endpoint(api, receiver, skip_empty=False)
    hours.execute("UPDATE endpoint_digest SET time_zone = 'Europe/Atlantis' WHERE endpoint_id = %s", [gone["id"]])
    come(hours, gone, ago="1 second")
    come(hours, made)
    told(hours, made)
    assert wait_for(lambda: (row := api.get(f"/webhooks/{gone['id']}", expect=200).json())["digest"] is None and row)


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
    found, last, hour_minute = {}, None, [int(part) for part in at.split(":")]
    for _ in dates:
        last, moment = hours.execute(
            "SELECT next_date, next_at FROM digest_next(jsonb_populate_record(NULL::endpoint_digest, jsonb_build_object("
            "'time_zone', %s::text, 'hour', %s::int, 'minute', %s::int, 'weekdays', '[1,2,3,4,5,6,7]'::jsonb, 'last_date', %s::date)), %s)",
            [zone, *hour_minute, last, moment]).fetchone()
        found[str(last)] = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    assert found == dates


@pytest.mark.parametrize("weekdays, days", [([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), ([7], [7]), ([1, 4, 1], [1, 4])])
def test_a_digest_comes_on_its_weekdays_only(hours, api, receiver, weekdays, days):
    made = endpoint(api, receiver, weekdays=weekdays)
    assert made["digest"]["weekdays"] == days
    found = set()
    for _ in range(10):
        hours.execute("UPDATE endpoint_digest d SET (last_date, next_date, next_at) = (SELECT d.next_date, n.next_date, n.next_at"
                      " FROM digest_next(jsonb_populate_record(d, jsonb_build_object('last_date', d.next_date)), d.next_at) n)"
                      " WHERE endpoint_id = %s", [made["id"]])
        found |= {hours.execute("SELECT extract(isodow FROM next_date)::int FROM endpoint_digest WHERE endpoint_id = %s", [made["id"]]).fetchone()[0]}
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
