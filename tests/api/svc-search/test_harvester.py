"""The scheduled harvest of arXiv, in replicas of their own, against a stub of an OAI-PMH server."""

import json
import threading
from datetime import UTC, datetime, timedelta

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.outside.oai import deleted, error, page
from lib.scenario.harvest import day, ended, harvest, new_record, replica, row, server, table  # noqa: F401
from lib.tables import search as search_tables
from lib.wait import PATIENCE_SECONDS, wait_for


# ---- Runs ----


def test_a_new_set_is_harvested_at_once(harvest, ended, api, new_id):
    first, second = new_id(), new_id()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    answers = [page([new_record(first)], "more", answered=now), page([new_record(second), new_record(second)], answered=now)]
    stub = harvest(answers)
    done = ended()
    assert stub.asked == [
        {"verb": "ListRecords", "metadataPrefix": "arXiv", "from": day(30), "set": "cs"},
        {"verb": "ListRecords", "resumptionToken": "more"},
    ]
    assert (done["state"], done["records"], done["added"], done["error"]) == ("idle", 3, 2, None)
    assert done["cursor"] == {} and done["response_date"].strftime("%Y-%m-%dT%H:%M:%SZ") == now
    assert done["fresh_at"] is not None
    assert datetime.now(UTC) < done["next_at"] < datetime.now(UTC) + timedelta(hours=25)
    api.get(f"/search/assets/{first}", expect=200)
    assert stub.requests[0][2]["User-Agent"].startswith("expops/")


@pytest.mark.parametrize(("created", "is_fresh"), [(day(3), True), (day(4), False)])
def test_papers_of_friday_are_new_on_monday(harvest, ended, new_id, created, is_fresh):
    """The announcement of Sunday evening, which is Monday in UTC, has the papers of Thursday and Friday."""
    harvest([page([new_record(new_id(), created=created)], answered=f"{day()}T23:00:00Z")])
    assert (ended()["fresh_at"] is not None) == is_fresh


def test_a_set_that_is_no_longer_listed_is_not_due(table, replica, ended):
    search_tables.add_waiting_set(table, "gone")
    replica(OAI_URL="http://127.0.0.1:9", HARVEST_SETS="cs")
    wait_for(lambda: ended("gone")["next_at"] is None, "the set is dropped")
    assert ended("gone")["state"] == "idle"


def test_the_next_list_begins_two_days_before_the_last_complete_one(harvest, table, ended):
    stub = harvest([page([], answered="2024-03-02T08:00:00Z"), error("noRecordsMatch")])
    first = ended()["finished_at"]
    search_tables.make_due(table, "cs")
    ended(after=first)
    assert stub.asked[1]["from"] == "2024-02-29"


def test_sets_are_read_one_after_another(harvest, ended):
    stub = harvest([page([], "a"), page([], "b"), page([]), page([])], HARVEST_SETS="cs, arxiv:cs:cs:LG")
    ended("cs")
    ended("cs:cs:LG")
    assert [asked.get("set", asked.get("resumptionToken")) for asked in stub.asked] == ["cs", "a", "b", "cs:cs:LG"]


@pytest.mark.parametrize("code", ["badResumptionToken", "noRecordsMatch"])  # the records of a token matched before
def test_an_expired_token_restarts_the_list(harvest, ended, new_id, code):
    stub = harvest([page([new_record(new_id())], "old"), error(code), page([])])
    assert ended()["state"] != "failed"
    assert stub.asked[2] == stub.asked[0]


def test_tokens_that_always_expire_end_the_run(harvest, ended):
    stub = harvest([page([], "old"), error("badResumptionToken")] * 4)
    done = ended()
    assert (done["state"], done["error"], len(stub.asked)) == ("failed", "resumption tokens keep expiring", 8)
    assert done["cursor"] == {"from": day(30)} and done["response_date"] is None


def test_failures_are_retried(harvest, ended):
    """503 with and without Retry-After, 429, a page that is cut off, and one that does not come."""
    is_over = threading.Event()
    failures = [
        lambda request: request.reply(503, "", Retry_After="1"),
        lambda request: request.reply(503, "<html>Backend fetch failed</html>"),
        lambda request: request.reply(429, "Rate exceeded."),
        lambda request: request.cut(page([])),
        lambda request: is_over.wait(PATIENCE_SECONDS),
    ]
    stub = harvest([*failures, page([])], HARVEST_TIMEOUT="500ms")
    done = ended()
    is_over.set()
    assert (done["error"], done["records"]) == (None, 0)
    assert len(stub.asked) == 6 and all(asked == stub.asked[0] for asked in stub.asked)
    assert stub.times[1] - stub.times[0] >= 1


def test_a_list_whose_token_expires_in_the_middle(harvest, ended, api, new_id):
    names = [new_id() for _ in range(3)]
    first, second, third = [page([new_record(name)], token) for name, token in zip(names, ["two", "three", None], strict=True)]
    stub = harvest([first, second, error("badResumptionToken"), first, second, third])
    done = ended()
    assert [asked.get("resumptionToken") for asked in stub.asked] == [None, "two", "three", None, "two", "three"]
    assert (done["state"], done["records"], done["added"]) == ("idle", 3, 3)
    for name in names:
        api.get(f"/search/assets/{name}", expect=200)


def test_a_record_that_is_deleted(harvest, put, ended, api):
    name = put(title="Withdrawn")["arxiv_id"]
    harvest([page([deleted(name), deleted("9712.99998")])])
    assert ended()["withdrawn"] == 1
    api.get(f"/search/assets/{name}", expect=404)


def test_a_record_that_is_changed_twice_in_one_list(harvest, ended, api, new_id):
    """On two pages, and on one."""
    names = [new_id(), new_id()]
    versions = [[new_record(name, title=title, updated=day(ago)) for title, ago in [("Second", 2), ("Third", 1)]] for name in names]
    harvest([page([versions[0][0]], "two"), page([versions[0][1], *versions[1][::-1]])])
    done = ended()
    assert (done["records"], done["added"], done["changed"]) == (4, 2, 1)
    for name in names:
        assert api.get(f"/search/assets/{name}", expect=200).json()["title"] == "Third"


def test_a_day_without_papers_is_no_failure(harvest, ended):
    harvest([error("noRecordsMatch")])
    done = ended()
    assert done["state"] in ("idle", "waiting") and (done["records"], done["error"]) == (0, None)
    assert done["response_date"] is not None


def test_a_bulk_correction_pauses(harvest, table, row, ended):
    many = page([deleted("9712.99998")] * 50000, "more")
    stub = harvest([many, page([])], HARVEST_MAX_RECORDS="1000")
    wait_for(lambda: row() and row()["records"] == 50000, "the first page is stored")
    waits = row()
    assert waits["state"] == "running" and waits["next_at"] > datetime.now(UTC) + timedelta(minutes=9)
    assert stub.replica.count("harvest: pausing, as the list is long") == 1 and len(stub.asked) == 1
    search_tables.make_due(table, "cs")
    assert ended()["records"] == 50000
    assert stub.asked[1] == {"verb": "ListRecords", "resumptionToken": "more"}


def test_repeated_failures_end_the_run(harvest, ended):
    stub = harvest([lambda request: request.reply(500, "")] * 8)
    done = ended()
    assert (done["state"], done["error"], len(stub.asked)) == ("failed", "Internal Server Error", 8)


def test_a_refusal_ends_the_run(harvest, ended):
    harvest([error("badArgument", "no such set")])
    done = ended()
    assert done["state"] == "failed" and "badArgument: no such set" in done["error"]


def test_a_repeated_token_ends_the_run(harvest, ended):
    harvest([page([], "same"), page([], "same")])
    assert "repeats a resumption token" in ended()["error"]


def test_a_token_of_yesterday_is_not_used(harvest, table, ended):
    search_tables.add_running_set(table, "cs", '{"from": "2024-01-01", "token": "yesterday", "token_on": "2024-01-05"}')
    stub = harvest([page([])])
    ended()
    assert stub.asked[0]["from"] == "2024-01-01"


def test_requests_keep_their_distance(harvest, ended):
    stub = harvest([page([], "a"), page([], "b"), page([])], HARVEST_DELAY="500ms")
    ended()
    assert all(later - earlier >= 0.45 for earlier, later in zip(stub.times, stub.times[1:], strict=False))


def test_the_command_is_refused_meanwhile(harvest, cluster, ended):
    refused = []

    def answer(request):
        with pytest.raises(RuntimeError, match="is being harvested by the process") as fault:
            cluster.run("svc-search", "harvest", "--from", "2024-01-01")
        refused.append(fault)
        request.reply(200, page([]))

    harvest([answer])
    assert ended()["error"] is None and refused


def test_another_replica_goes_on_where_one_was_killed(replica, server, table, ended, api, new_id):
    """Killed while it waits for the second page: the other one asks for that page again, not before its turn."""
    names = [new_id() for _ in range(3)]
    replicas = []

    def kill(request):
        replicas[0].process.kill9()
        request.reply(200, page([new_record(names[1])], "three"))

    stub = server([page([new_record(names[0])], "two"), kill, page([new_record(names[1])], "three"), page([new_record(names[2])])])
    settings = {"OAI_URL": stub.url + "/oai", "HARVEST_DELAY": "1s", "HARVEST_SETS": "cs"}
    replicas.append(replica(**settings))
    replicas.append(replica(**settings))
    done = ended()
    assert [asked.get("resumptionToken") for asked in stub.asked] == [None, "two", "two", "three"]
    assert all(later - earlier >= 0.95 for earlier, later in zip(stub.times, stub.times[1:], strict=False))
    assert (done["records"], done["added"]) == (3, 3)
    for name in names:
        api.get(f"/search/assets/{name}", expect=200)


def test_two_replicas_harvest_a_list_once(replica, server, ended, new_id):
    stub = server([page([new_record(new_id())], "two"), page([new_record(new_id())], "three"), page([new_record(new_id())])])
    settings = {"OAI_URL": stub.url + "/oai", "HARVEST_DELAY": "300ms", "HARVEST_SETS": "cs"}
    for _ in range(2):
        replica(**settings)
    done = ended()
    assert [asked.get("resumptionToken") for asked in stub.asked] == [None, "two", "three"]
    assert (done["records"], done["added"]) == (3, 3)
    assert all(later - earlier >= 0.25 for earlier, later in zip(stub.times, stub.times[1:], strict=False))


def test_a_replica_that_is_killed_before_it_commits_a_page_has_stored_nothing_of_it(replica, server, cluster, ended, api, new_id):
    """It waits for the row of the set, with the papers stored and not committed."""
    name = new_id()
    replicas = []

    def kill(request):
        wait_for(lambda: replicas, "the replica is known")
        with cluster.postgres.connect("search") as other, other.transaction(force_rollback=True):
            search_tables.lock_set(other, "cs")
            request.reply(200, page([new_record(name)]))
            wait_for(lambda: search_tables.page_waits(other), "the page waits")
            replicas[0].process.kill9()
        api.get(f"/search/assets/{name}", expect=404)

    stub = server([kill, page([new_record(name)])])
    settings = {"OAI_URL": stub.url + "/oai", "HARVEST_DELAY": "1s", "HARVEST_SETS": "cs"}
    replicas.append(replica(**settings))
    wait_for(lambda: len(stub.asked) == 1, "the first page is asked for")
    replicas.append(replica(**settings))
    done = ended()
    assert stub.asked[1] == stub.asked[0] and stub.times[1] - stub.times[0] >= 0.95
    assert (done["records"], done["added"]) == (1, 1)
    api.get(f"/search/assets/{name}", expect=200)


def test_a_replica_stops_while_it_waits_for_a_page(replica, server, ended):
    """And gives up its lease, so that another goes on at once."""
    waits, stopped = threading.Event(), threading.Event()

    def keep_waiting(request):
        waits.set()
        stopped.wait(PATIENCE_SECONDS)
        request.reply(200, page([]))

    stub = server([page([], "two"), keep_waiting, page([])])
    settings = {"OAI_URL": stub.url + "/oai", "HARVEST_DELAY": "0", "HARVEST_SETS": "cs"}
    first = replica(**settings)
    assert waits.wait(PATIENCE_SECONDS)
    first.process.stop()
    stopped.set()
    replica(**settings)
    assert ended()["error"] is None
    assert [asked.get("resumptionToken") for asked in stub.asked] == [None, "two", "two"]


def test_a_replica_that_has_lost_its_lease_stores_nothing(harvest, cluster, table, ended, api, new_id):
    name = new_id()

    def steal(request):
        with cluster.postgres.connect("search") as thief:
            search_tables.steal_harvest(thief)
        request.reply(200, page([new_record(name)], "two"))

    stub = harvest([steal, page([])])
    wait_for(lambda: "another process harvests this source now" in stub.replica.process.log(), "the page is refused")
    api.get(f"/search/assets/{name}", expect=404)
    assert len(stub.asked) == 1
    search_tables.end_harvest_lease(table)
    ended()
    assert "resumptionToken" not in stub.asked[1]


# ---- What is told ----


@pytest.fixture
def told(cluster, table):
    """told(count): wait for `count` events of harvests that ended after the test began; their data. An event can be delivered
    twice; it is returned once."""
    redis = cluster.redis.client()
    seen = {fields["id"] for _, fields in redis.xrange("events.assets")}

    def read(count):
        def found():
            entries = {fields["id"]: fields for _, fields in redis.xrange("events.assets")}
            new = [fields for event, fields in entries.items() if event not in seen and fields["type"] == "harvest.finished"]
            return new if len(new) >= count else None

        events = wait_for(found, f"{count} events")
        assert {(fields["lane"], fields["account"]) for fields in events} == {("arxiv", "")}
        return [json.loads(fields["data"]) for fields in events]

    return read


def test_the_last_set_of_a_day_says_that_the_day_is_complete(harvest, told, table, new_id):
    harvest([page([new_record(new_id())], "more"), page([new_record(new_id())]), page([new_record(new_id())])], HARVEST_SETS="cs stat")
    first, second = told(2)
    assert first == {
        "source": "arxiv", "set": "cs", "added": 2, "changed": 0, "newest_published_at": f"{day(1)}T00:00:00.000Z",
        "day": search_tables.announced_day(table), "is_day_complete": False,
    }  # fmt: skip
    assert (second["set"], second["added"], second["is_day_complete"]) == ("stat", 1, True)


def test_a_day_is_complete_only_with_papers(harvest, told, row, table, cluster, new_id):
    """A set without a new paper, one that is read again, one that failed, and one that is not listed."""
    answers = [page([new_record(new_id())]), page([]), page([new_record(new_id())]), page([new_record(new_id())]),
               error("badArgument"), page([new_record(new_id())])]  # fmt: skip
    stub = harvest(answers, HARVEST_SETS="cs stat")
    assert [one["is_day_complete"] for one in told(2)] == [False, False]
    ask(cluster, stub, set="eess")
    assert told(3)[-1] | {"set": "eess", "is_day_complete": False} == told(3)[-1]
    search_tables.make_due(table, "stat")
    assert told(4)[-1] | {"set": "stat", "is_day_complete": True} == told(4)[-1]
    search_tables.make_due(table, "cs")
    wait_for(lambda: row("cs")["state"] == "failed", "the run fails")
    search_tables.make_due(table, "stat")
    assert told(5)[-1] | {"set": "stat", "is_day_complete": False} == told(5)[-1]


# ---- Asked for ----


def ask(cluster, stub, **body):
    return plain_http.post(
        f"{stub.replica.process.url}/api/v1.0/search/harvest", json={"source": "arxiv", **body},
        auth=identity(cluster, "svc-search"), timeout=PATIENCE_SECONDS,
    )  # fmt: skip


def test_a_set_that_is_not_listed_is_harvested_when_asked_for(harvest, cluster, ended):
    stub = harvest([page([])])
    ended()
    answer = ask(cluster, stub, set="stat", **{"from": "2024-01-01"})
    assert (answer.status_code, answer.json()) == (200, {"queued": True})
    assert ended("stat")["next_at"] is None
    assert stub.asked[1] == {"verb": "ListRecords", "metadataPrefix": "arXiv", "from": "2024-01-01", "set": "stat"}
    known = {one["set"]: one for one in stub.replica.call("GET", "/search/stats")["sources"]}
    assert known.keys() == {"cs", "stat"} and known["stat"]["state"] == "idle"


@pytest.mark.parametrize(("asked", "following"), [("2024-03-02", day(2)), ("2024-03-03", "2024-02-29")])
def test_days_before_the_one_that_was_asked_for_are_read_by_the_next_run(harvest, table, cluster, ended, asked, following):
    """The list before was complete until the second of March."""
    stub = harvest([page([], answered="2024-03-02T08:00:00Z"), page([], answered=f"{day()}T08:00:00Z"), page([])])
    first = ended()["finished_at"]
    ask(cluster, stub, set="cs", **{"from": asked})
    second = ended(after=first)["finished_at"]
    search_tables.make_due(table, "cs")
    ended(after=second)
    assert [one["from"] for one in stub.asked] == [day(30), asked, following]


def test_a_set_of_which_only_some_days_were_asked_for_is_not_complete(harvest, cluster, ended):
    stub = harvest([page([]), page([]), page([])])
    ended()
    ask(cluster, stub, set="stat", **{"from": day(1)})
    first = ended("stat")
    assert (first["response_date"], first["cursor"]) == (None, {})
    ask(cluster, stub, set="stat")
    assert ended("stat", after=first["finished_at"])["response_date"] is not None
    assert stub.asked[2]["from"] == day(30)


def test_a_set_that_is_being_harvested_cannot_be_asked_for(harvest, cluster, ended):
    answers = []

    def answer(request):
        answers.append(ask(cluster, stub, set="cs"))
        request.reply(200, page([]))

    stub = harvest([lambda request: request.reply(503, "", Retry_After="1"), answer])
    ended()
    assert answers[0].status_code == 409 and answers[0].json()["detail"] == "this set is being harvested"


def test_what_is_asked_for_is_checked(operator):
    body = {"source": "arxiv", "set": "cs"}
    for field, value in [("source", "nature"), ("set", "cs LG"), ("set", ""), ("from", "yesterday")]:
        answer = operator.api.post("/search/harvest", {**body, field: value}, expect=400)
        assert [one["field"] for one in answer.json()["errors"]] == [field]
    answer = operator.api.post("/search/harvest", body, expect=409).json()
    assert (answer["error"], answer["detail"]) == ("provider_not_configured", "HARVEST_SETS is empty")


# ---- Metrics ----


def test_gauges(harvest, ended):
    replica = harvest([page([])]).replica
    ended()
    assert replica.process.metric("expops_harvest_last_success_seconds") > 1.7e9
    assert replica.process.metric("expops_harvest_requests_total") == 1


# ---- Turns ----


def test_a_source_that_others_ask_is_tried_again(harvest, table, row, ended):
    search_tables.take_turns(table, "arxiv")
    stub = harvest([page([])], HARVEST_DELAY="1s")
    wait_for(lambda: row() and row()["error"] == "others ask this source", "the set waits")
    assert stub.asked == []
    search_tables.free_turns(table)
    assert (ended()["error"], len(stub.asked)) == (None, 1)


def test_a_turn_of_a_clock_that_was_wrong_does_not_count(harvest, table, ended, internal):
    search_tables.misplace_turn(table, "arxiv")
    stub = harvest([page([])])
    assert (ended()["error"], len(stub.asked)) == (None, 1)
    search_tables.free_turns(table)
    search_tables.misplace_turn(table, "arxiv")
    assert internal("/internal/sources/turn", {"source": "arxiv", "wait_max_ms": 0}).json()["wait_ms"] == 0


def test_turns_are_given_to_other_services(internal, table):
    """At the distance that HARVEST_DELAY says. One that would come too late is not given."""
    def turn(wait_max_ms):
        return internal("/internal/sources/turn", {"source": "arxiv", "wait_max_ms": wait_max_ms})

    waits = [turn(60000).json()["wait_ms"] for _ in range(3)]
    assert waits[0] == 0 and 1000 < waits[1] <= 3000 and 4000 < waits[2] <= 6000
    assert turn(5000).status_code == 503
    assert 5000 < turn(60000).json()["wait_ms"] <= 9000
    assert internal("/internal/sources/turn", {"source": "nature", "wait_max_ms": 0}).status_code == 400
