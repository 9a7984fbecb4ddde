"""The ledger of deliveries: the command that reads it and applies deliveries again, its days, and what is sent again."""

import json
import secrets
import uuid
from datetime import datetime, timezone
from urllib.parse import parse_qs, urlsplit

import pytest

from lib.outside.stub_server import StubServer
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for
from lib.outside.webhooks import pull_request


def run(cluster, *args):
    return cluster.run("svc-integrations", "deliveries", *args)


def test_the_ledger_is_listed_and_shown(cluster, hook):
    repo = f"acme/{secrets.token_hex(6)}"
    payload = pull_request(repo) | {"installation": {"id": 5}}
    one = hook.deliver("pull_request", payload).json()["delivery_id"]
    two = hook.deliver("pull_request", payload).json()["delivery_id"]
    rows = [json.loads(line) for line in run(cluster, "list", "--repo", repo.upper()).splitlines()]
    assert [(row["delivery_id"], row["status"]) for row in rows] == [(two, "ignored"), (one, "applied")]
    assert rows[0]["reason"] == f"says what delivery {one} has said"
    assert rows[1] | {"received_at": None} == {
        "delivery_id": one, "received_at": None, "times_received": 1, "verified_by_secret": 1, "event": "pull_request",
        "action": "closed", "repo": repo, "installation_id": 5, "status": "applied", "reason": None, "replayed_at": None,
    }  # fmt: skip
    assert run(cluster, "list", "--repo", repo, "--status", "ignored").count("\n") == 1
    assert run(cluster, "list", "--repo", repo, "--limit", "1").count("\n") == 1
    *shown, body = run(cluster, "show", two).splitlines()
    (event,) = json.loads("\n".join(shown))["events"]
    assert event["first_said_by"] == one
    assert json.loads(body) == payload


def test_a_replay_sends_the_same_event_again(cluster, hook):
    delivery = hook.deliver("pull_request", pull_request(f"acme/{secrets.token_hex(6)}")).json()["delivery_id"]

    def sent():
        return [event for event, data in hook.sent() if data["delivery_id"] == delivery]

    wait_for(lambda: len(sent()) == 1, "the event is sent")
    assert run(cluster, "replay", delivery) == f"{delivery}: applied, 1 events sent\n"
    wait_for(lambda: len(sent()) == 2, "the event is sent again")
    assert len(set(sent())) == 1
    (row,) = [json.loads(line) for line in run(cluster, "list").splitlines() if delivery in line]
    assert row["replayed_at"]


def test_a_replay_after_the_event_has_left_the_outbox(cluster, hook):
    delivery = hook.deliver("pull_request", pull_request(f"acme/{secrets.token_hex(6)}")).json()["delivery_id"]
    before = common.drop_from_outbox(hook.connection, delivery_id=delivery)
    run(cluster, "replay", delivery)
    assert [event.event_id for event in common.outbox(hook.connection, delivery_id=delivery)] == [before]


def test_a_replay_of_what_was_ignored(cluster, hook):
    delivery = hook.deliver("star", {"action": "created"}).json()["delivery_id"]
    assert run(cluster, "replay", delivery) == f"{delivery}: ignored: events of this kind are not used\n"


@pytest.mark.parametrize("args", [[], ["list", "x"], ["show"], ["replay"], ["other", "x"], ["list", "--limit", "0"]])
def test_wrong_arguments_print_the_usage(cluster, args):
    with pytest.raises(RuntimeError, match="usage: svc-integrations deliveries"):
        run(cluster, *args)


def test_an_unknown_delivery_is_named(cluster):
    with pytest.raises(RuntimeError, match='no delivery has the id "nothing"'):
        run(cluster, "show", "nothing")


def test_a_missing_day_is_added_by_the_delivery(hook):
    with integrations_tables.today_missing(hook.connection):
        delivery = hook.deliver("star", {"action": "created"}).json()["delivery_id"]
        assert hook.row(delivery) == ("ignored", "events of this kind are not used")


def test_days_are_added_ahead_and_dropped_when_they_are_over(hook):
    db, old, fresh = hook.connection, str(uuid.uuid4()), str(uuid.uuid4())
    for delivery, age in ((old, 31), (fresh, 30)):
        integrations_tables.add_old_delivery(db, delivery, age)
    over, days = integrations_tables.ledger_day(db, -31), integrations_tables.ledger_days(db)
    assert integrations_tables.keep_ledger(db, 30) == 1
    assert (hook.row(old), hook.row(fresh)) == (None, ("applied", None))
    assert integrations_tables.known_facts(db, [old, fresh]) == [fresh]
    assert integrations_tables.seen(db, [old, fresh]) == [fresh]
    assert set(days) - set(integrations_tables.ledger_days(db)) == {over}
    assert integrations_tables.ledger_days(db)[-1] == integrations_tables.ledger_day(db, 7)


@pytest.fixture
def sweeper(cluster, code_host):
    """A replica that asks the code host every second for what did not arrive."""
    process = cluster.separate("svc-integrations", "sweeper", REDELIVERY_INTERVAL="1s")
    process.start()
    process.wait_ready()
    yield process
    process.stop()


def swept(hook, predicate, what):
    """Wait for what a sweep does. The other replica has put the next one off by its own interval."""
    def done():
        integrations_tables.make_sweep_due(hook.connection)
        return predicate()

    return wait_for(done, what)


def failed_delivery(code_host):
    """Let the code host fail to deliver the event of a new issue; returns its id."""
    ada = code_host.user()
    repo = code_host.repository(ada.login)
    code_host.install(ada.login)
    known = {row["guid"] for row in code_host.deliveries()}

    def missed():
        """A sweeper may have asked for it again already, which is a second delivery of the same id."""
        return {row["guid"] for row in code_host.deliveries() if row["guid"] not in known and row["event"] == "issues"}

    with code_host.held_deliveries():
        answer = code_host.api("POST", f"/repos/{repo}/issues", ada.token, json={"title": "Missed"})
        assert answer.status_code == 201, answer.text
        (guid,) = wait_for(missed, "the event is made")
    return guid


def test_what_did_not_arrive_is_asked_for_again(hook, code_host, sweeper):
    missed = failed_delivery(code_host)
    assert hook.row(missed) is None
    swept(hook, lambda: hook.row(missed), "the delivery has arrived")
    assert hook.row(missed) == ("applied", None)
    swept(hook, lambda: not integrations_tables.is_missing(hook.connection, missed), "it is forgotten")


def test_a_delivery_is_asked_for_once_in_an_interval(hook, code_host, sweeper):
    """The next time comes after twice the interval, whoever sweeps."""
    code_host.set_webhook(url=hook.cluster.gateway_url + "/api/v1.0/nowhere")
    try:
        missed = failed_delivery(code_host)

        def asked():
            return [row for row in code_host.deliveries() if row["guid"] == missed and row["redelivery"]]

        integrations_tables.put_off_redeliveries(hook.connection)
        swept(hook, asked, "it was asked for")
        integrations_tables.put_off_redeliveries(hook.connection, missed)
        count = len(asked())
        before = code_host.last_number()
        swept(hook, lambda: code_host.requests(before, "GET", "/app/hook/deliveries"), "the list was read again")
        assert len(asked()) == count
    finally:
        code_host.set_webhook(url=code_host.webhook_url())
    integrations_tables.make_redeliveries_due(hook.connection)
    swept(hook, lambda: hook.row(missed), "the delivery has arrived")


def test_what_is_too_old_is_given_up(hook, code_host, sweeper):
    lost = str(uuid.uuid4())
    integrations_tables.miss(hook.connection, lost, "73 hours")
    swept(hook, lambda: not integrations_tables.is_missing(hook.connection, lost), "it is forgotten")
    replicas = [sweeper, *hook.cluster["svc-integrations"]]
    wait_for(lambda: any("deliveries of the code host never arrived" in one.log() for one in replicas), "it is logged")


def item(number, guid, status):
    at = datetime.now(timezone.utc).isoformat()
    return {"id": number, "guid": guid, "delivered_at": at, "status_code": status, "event": "push", "action": None}


def test_the_list_is_read_page_by_page(cluster, hook):
    """The deliveries that the ledger lacks are asked for, whether they failed or were lost later; one that the code host does not
    have any more is forgotten, and an item that cannot be read is skipped."""
    known = hook.deliver("star", {"action": "created"}).json()["delivery_id"]
    missing, refused, lost = (str(uuid.uuid4()) for _ in range(3))
    pages = {
        None: [item(9, known, 502), item(8, lost, 202), {"id": "x"}, None, item(7, "no id!", 500)],
        "v1_7": [item(6, missing, 0), item(5, refused, 504)],
        "v1_5": [item(4, missing, 502)],
    }  # fmt: skip

    def answer(request):
        url = urlsplit(request.path)
        if request.command == "POST":
            request.reply(404 if "/5/" in url.path else 202, "{}")
            return
        cursor = parse_qs(url.query).get("cursor", [None])[0]
        following = list(pages)[list(pages).index(cursor) + 1:]
        links = [f'<{stub.url}{url.path}?per_page=100&cursor={following[0]}>; rel="next"'] if following else []
        request.reply(200, json.dumps(pages[cursor]), **{"Link": link for link in links})

    stub = StubServer(answer)
    process = cluster.separate("svc-integrations", "pages", REDELIVERY_INTERVAL="1s", CODE_HOST_API_URL=stub.url)
    process.start()
    try:
        posts = [f"/app/hook/deliveries/{number}/attempts" for number in (5, 6, 8)]
        swept(hook, lambda: set(posts) <= {path for _, path, *_ in stub.requests}, "all were asked for")
    finally:
        process.stop()
        stub.close()
    asked = [path for method, path, *_ in stub.requests if method == "POST"]
    assert [asked.count(path) for path in posts[1:]] == [1, 1]
    of_other_tests = {path for path in asked if "/deliveries/9000000" in path}
    assert set(asked) - of_other_tests == set(posts)
    assert integrations_tables.take_missing(hook.connection, [known, missing, lost]) == {missing: 1, lost: 1}


@pytest.mark.parametrize("status", [401, 403, 400])
def test_what_the_code_host_refuses_for_now_is_asked_for_again(cluster, hook, status):
    """A refusal of the app, whose key is being replaced, ends the pass: it would refuse the rest, too."""
    missing = {str(uuid.uuid4()) for _ in range(2)}
    items = [item(number, guid, 502) for number, guid in enumerate(missing, 70)]
    paths = {f"/app/hook/deliveries/{row['id']}/attempts" for row in items}

    def answer(request):
        if request.command == "GET":
            lists = [path for method, path, *_ in list(stub.requests) if method == "GET"]
            request.reply(200, json.dumps(items if len(lists) == 1 else []))
        else:
            is_first = len([path for _, path, *_ in list(stub.requests) if path in paths]) == 1
            request.reply(status if is_first else 202, '{"message": "no"}')

    stub = StubServer(answer)
    process = cluster.separate("svc-integrations", "refused", REDELIVERY_INTERVAL="1s", CODE_HOST_API_URL=stub.url)
    integrations_tables.put_off_redeliveries(hook.connection)  # those of other tests
    process.start()
    asked = lambda: [path for _, path, *_ in list(stub.requests) if path in paths]  # noqa: E731
    try:
        swept(hook, lambda: asked() and asked().count(asked()[0]) == 2, "the refused one was asked for again")
    finally:
        process.stop()
        stub.close()
    requests = [(method, path) for method, path, *_ in stub.requests]
    following, _ = requests[requests.index(("POST", asked()[0])) + 1]
    assert following == ("POST" if status == 400 else "GET")
    assert set(integrations_tables.take_missing(hook.connection, missing)) == missing
    integrations_tables.make_redeliveries_due(hook.connection)
