"""Deliveries of the code host's webhooks: signatures, the events that they make, and each of them once."""

import json
import secrets
import uuid
from collections import Counter
from datetime import datetime, timezone
from urllib.parse import urlencode

import pytest

from lib.http.identity import identity
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for
from lib.outside.webhooks import Hook, examples, pull_request, signature

MEMBERS = [
    "event", "action", "repo", "number", "url", "state", "merged", "branch", "run_id", "workflow", "conclusion", "occurred_at",
    "commit", "reverts", "repository_id", "installation_id", "delivery_id",
]  # fmt: skip

SUBJECTS = {"pull_request": "pull_request", "issues": "issue", "workflow_run": "workflow_run"}
USED = {*SUBJECTS, "push", "repository", "installation", "installation_repositories", "installation_target"}
REPO_LISTS = ("repositories", "repositories_added", "repositories_removed")


def new_repo():
    return f"acme/{secrets.token_hex(6)}"


def time_of(value):
    """As the API writes times."""
    if value is None:
        return None
    at = datetime.fromtimestamp(value, timezone.utc) if isinstance(value, int) else datetime.fromisoformat(value)
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def expected_events(event, payload, delivery):
    """The events of a delivery, read by other means than the service's."""
    subject = payload.get(SUBJECTS.get(event), {})
    found = dict.fromkeys(MEMBERS)
    found |= {"event": event, "action": payload.get("action"), "delivery_id": delivery}
    found["installation_id"] = (payload.get("installation") or {}).get("id")
    found["url"] = subject.get("html_url")
    found["occurred_at"] = time_of(subject.get("updated_at"))
    if event == "pull_request":
        found |= {"merged": subject["merged"], "branch": subject["head"]["ref"], "commit": subject["merge_commit_sha"]}
    if event in ("pull_request", "issues"):
        found |= {"number": subject["number"], "state": subject.get("state")}
    if event == "workflow_run":
        path = subject.get("path", "").split("@")[0]
        found |= {"run_id": subject["id"], "state": subject["status"], "conclusion": subject["conclusion"],
                  "workflow": path.rpartition("/")[2] or None, "branch": subject["head_branch"]}
    if event == "push":
        found |= {"url": payload["compare"], "branch": payload["ref"].removeprefix("refs/heads/"), "commit": payload["after"],
                  "occurred_at": time_of(payload["repository"]["pushed_at"])}
    if event == "repository":
        found |= {"url": payload["repository"]["html_url"], "occurred_at": time_of(payload["repository"]["updated_at"])}
    repos = [payload["repository"]] if "repository" in payload else []
    repos += [repo for name in REPO_LISTS for repo in payload.get(name, [])]
    told = [{"repo": repo["full_name"], "repository_id": repo.get("id")} for repo in repos]
    return [found | one for one in told or [{}]]


def fact_of(event):
    return json.dumps([event[name] for name in MEMBERS[:-3]])


def has_event(event, payload):
    """What says nothing of the state of its subject makes no event: that an issue was pinned, for example."""
    subject = payload.get(SUBJECTS.get(event), {"state": None})
    has_state = "state" in subject or "status" in subject
    return event in USED and has_state and not payload.get("ref", "").startswith("refs/tags/")


def test_every_example_of_the_code_host_is_accounted_for(hook):
    """Each is in the ledger. What is used makes the events that it says, and of a fact that two tell there is one."""
    told, taken = set(), {}
    for example in examples(hook.secret):
        delivery = str(uuid.uuid4())
        body = example["body"].encode()
        answer = hook.send(body, {"Content-Type": "application/json", "X-GitHub-Event": example["event"],
                                  "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": example["signature"]})
        assert answer.status_code == 202, answer.text
        taken[delivery] = (example["event"], json.loads(body), answer.json())
    for delivery, (event, payload, answer) in taken.items():
        assert hook.row(delivery) == (answer["status"], answer["reason"])
        events = expected_events(event, payload, delivery) if has_event(event, payload) else []
        new = [one for one in events if not one["occurred_at"] or fact_of(one) not in told]
        told |= {fact_of(one) for one in events}
        assert hook.events(delivery) == new
        assert answer["status"] == ("applied" if new else "ignored"), (event, answer)
        assert not events or new or answer["reason"].startswith("says what delivery ")
    assert len(taken) == 329
    assert Counter(answer["status"] for _, _, answer in taken.values())["applied"] == 48


def test_events_reach_the_stream(hook):
    repo = new_repo()
    answer = hook.deliver("pull_request", pull_request(repo)).json()
    assert answer["status"] == "applied"

    def arrived():
        return [data for _, data in hook.sent() if data["delivery_id"] == answer["delivery_id"]]

    (data,) = wait_for(arrived, "the event is in the stream")
    assert list(sorted(data)) == sorted(MEMBERS)
    assert data["repo"] == repo and data["merged"] is True and data["occurred_at"] == "2026-01-31T09:30:00.000Z"
    (fields,) = [fields for _, fields in hook.cluster.redis.client().xrange("events.code_host")
                 if json.loads(fields["data"]) == data]
    assert (fields["type"], fields["lane"], fields["account"]) == ("pull_request", repo, "")


@pytest.mark.parametrize("flaw", ["secret", "byte", "missing", "empty", "sha1", "short", "not hex", "content"])
def test_what_is_not_signed_is_refused_and_leaves_nothing(hook, flaw):
    before = hook.counts()
    body = json.dumps(pull_request(new_repo())).encode()
    right = signature(hook.secret, body)
    value = {
        "secret": signature(hook.secret[::-1], body),
        "byte": right[:-1] + ("0" if right[-1] != "0" else "1"),
        "missing": None,
        "empty": "",
        "sha1": right.replace("sha256", "sha1"),
        "short": right[:-2],
        "not hex": "sha256=" + "x" * 64,
        "content": right,
    }[flaw]
    body = body.replace(b"closed", b"opened", 1) if flaw == "content" else body
    problem = hook.deliver("pull_request", body, expect=401, X_Hub_Signature_256=value).json()
    assert problem["error"] == "invalid_token" and "X-Hub-Signature-256" in problem["detail"]
    assert hook.counts() == before


def test_several_secrets_and_none(cluster):
    """During a change of the secret both are accepted, and the ledger says which signed; afterwards the old one is not."""
    new, old = secrets.token_hex(16), secrets.token_hex(16)
    auth = identity(cluster, "svc-integrations")
    statuses = {}
    for label, value in {"both": f"{new},{old}", "new": new, "none": ""}.items():
        process = cluster.separate("svc-integrations", f"secrets-{label}", CODE_HOST_WEBHOOK_SECRETS=value)
        process.start()
        process.wait_ready()
        hook = Hook(cluster, process.url)
        for number, secret in enumerate([new, old], 1):
            delivery, body = str(uuid.uuid4()), json.dumps(pull_request(new_repo())).encode()
            answer = hook.send(body, {"Content-Type": "application/json", "X-GitHub-Event": "pull_request",
                                      "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": signature(secret, body)}, auth)
            statuses[label, number] = answer.status_code
            row = integrations_tables.delivery(hook.connection, delivery)
            assert (row and row.secret) == (number if answer.status_code == 202 else None)
        process.stop()
    assert statuses == {("both", 1): 202, ("both", 2): 202, ("new", 1): 202, ("new", 2): 401, ("none", 1): 401,
                        ("none", 2): 401}  # fmt: skip


@pytest.mark.parametrize("value", ["short", "0123456789abcdef,short", ",".join(["0123456789abcdef"] * 9)])
def test_bad_secrets_stop_the_start(cluster, value):
    with pytest.raises(RuntimeError, match="CODE_HOST_WEBHOOK_SECRETS: "):
        cluster.run("svc-integrations", "deliveries", "list", CODE_HOST_WEBHOOK_SECRETS=value)


def test_a_delivery_counts_once(hook):
    delivery, payload = str(uuid.uuid4()), pull_request(new_repo())
    first = hook.deliver("pull_request", payload, delivery).json()
    again = hook.deliver("pull_request", payload, delivery).json()
    assert first == again == {"delivery_id": delivery, "status": "applied", "reason": None}
    other = hook.deliver("pull_request", pull_request(new_repo()), delivery).json()
    assert other == first
    assert len(hook.events(delivery)) == 1
    assert integrations_tables.times_received(hook.connection, delivery) == 3


def test_a_fact_that_two_webhooks_tell_is_one_event(hook):
    """The app's delivery names its installation, the repository's does not."""
    payload = pull_request(new_repo())
    one = hook.deliver("pull_request", payload | {"installation": {"id": 5}}).json()
    two = hook.deliver("pull_request", payload).json()
    assert two["status"] == "ignored"
    assert two["reason"] == f"says what delivery {one['delivery_id']} has said"
    assert (len(hook.events(one["delivery_id"])), hook.events(two["delivery_id"])) == (1, [])


@pytest.mark.parametrize("change", [
    {"number": 8}, {"at": "2026-01-31T09:30:01Z"}, {"action": "opened"}, {"state": "open"}, {"merged": False},
])  # fmt: skip
def test_what_differs_is_another_fact(hook, change):
    repo = new_repo()
    hook.deliver("pull_request", pull_request(repo))
    other = hook.deliver("pull_request", pull_request(repo, **change)).json()
    assert other["status"] == "applied"


def test_a_form_is_read_too(hook):
    payload = pull_request(new_repo())
    form = urlencode({"payload": json.dumps(payload)}).encode()
    answer = hook.deliver("pull_request", form, Content_Type="application/x-www-form-urlencoded").json()
    (event,) = hook.events(answer["delivery_id"])
    assert event["repo"] == payload["repository"]["full_name"]
    assert hook.deliver("pull_request", payload).json()["status"] == "ignored"


@pytest.mark.parametrize("form", [b"", b"other=1", b"payload", b"payload=%zz"])
def test_a_form_without_its_member_is_400(hook, form):
    problem = hook.deliver("issues", form, Content_Type="application/x-www-form-urlencoded", expect=400).json()
    assert problem["errors"] == [{"field": "payload", "message": "is missing, or its percent-encoding is invalid"}]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/jsonx", "multipart/form-data; boundary=a"])
def test_other_content_types_are_415(hook, kind):
    before = hook.counts()
    hook.deliver("issues", pull_request(), expect=415, Content_Type=kind)
    assert hook.counts() == before


@pytest.mark.parametrize("name", ["X_GitHub_Event", "X_GitHub_Delivery"])
@pytest.mark.parametrize("value", [None, "", "a" * 10000, "a b", "a/b", "'; DROP TABLE delivery"])
def test_missing_and_wrong_headers_are_400(hook, name, value):
    before = hook.counts()
    problem = hook.deliver("issues", pull_request(), expect=400, **{name: value}).json()
    assert [fault["field"] for fault in problem["errors"]] == [name.replace("_", "-")]
    assert hook.counts() == before


MIB = 1 << 20


@pytest.mark.parametrize("body, more", [
    ("x" * (25 * MIB - 1000), []),
    ("", [{"id": "0", "n": [1, 2]}] * 980_000),
], ids=["in a text", "in many values"])  # fmt: skip
def test_a_delivery_of_25_mib_is_taken_and_what_is_read_is_kept(hook, body, more):
    payload = pull_request(new_repo(), body=body) | {"commits": more}
    answer = hook.deliver("pull_request", payload).json()
    assert answer["status"] == "applied"
    body = integrations_tables.delivery(hook.connection, answer["delivery_id"]).body
    kept = json.loads(body)
    assert len(body) < 10_000 and kept["pull_request"]["number"] == 7 and kept["pull_request"]["body"] == ""


def test_a_larger_delivery_is_413(hook):
    before = hook.counts()
    hook.deliver("pull_request", b" " * (25 * MIB + 1), expect=413)
    assert hook.counts() == before


def test_the_signature_of_a_large_delivery_covers_all_of_it(hook):
    payload = json.dumps(pull_request(new_repo()) | {"commits": "x" * 9 * MIB}).encode()
    right = signature(hook.secret, payload)
    before = hook.counts()
    hook.deliver("pull_request", payload.replace(b"xx", b"xy", 1), expect=401, X_Hub_Signature_256=right)
    assert hook.counts() == before


ODD = {
    "NUL": rb'"a\u0000b"',
    "raw NUL": b'"a\0b"',
    "lone surrogates": rb'"\ud83d x \ude00"',
    "invalid UTF-8": b'"\xff\xfe\xed\xa0\x80"',
    "line break": b'"a\nb"',
    "deep": b"[" * 200 + b"]" * 200,
    "very deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "huge number": b"1e400",
    "members twice": b'{"a": 1, "a": {"b": 2, "b": 3}}',
}


@pytest.mark.parametrize("form", [False, True], ids=["json", "form"])
@pytest.mark.parametrize("place", ["subject", "outermost"])
@pytest.mark.parametrize("odd", ODD)
def test_what_is_not_read_may_be_anything(hook, odd, place, form):
    """A merge whose text, or another member, has what Postgres refuses or clients may not send."""
    repo, value = new_repo(), b'"ODD"'
    payload = pull_request(repo, body="ODD") if place == "subject" else pull_request(repo) | {"sender": "ODD"}
    body, fields = json.dumps(payload).encode().replace(value, ODD[odd]), {}
    if form:
        body, fields = urlencode({"payload": body}).encode(), {"Content_Type": "application/x-www-form-urlencoded"}
    answer = hook.deliver("pull_request", body, **fields).json()
    assert answer["status"] == "applied"
    (event,) = hook.events(answer["delivery_id"])
    assert (event["repo"], event["merged"]) == (repo, True)


def test_a_member_that_comes_twice_is_no_loss(hook):
    body = json.dumps(pull_request(new_repo())).encode()
    body = body[:-1] + b', "sender": {}, "sender": 1, "action": "opened"}'
    assert hook.deliver("pull_request", body).json()["status"] == "applied"


def test_texts_with_odd_characters_are_stored(hook):
    """A branch is read, and stored with U+FFFD."""
    payload = json.dumps(pull_request(new_repo(), head={"ref": "ODD"})).encode().replace(b"ODD", rb"a\u0000b\ud800c" + b"\xff")
    answer = hook.deliver("pull_request", payload).json()
    (event,) = hook.events(answer["delivery_id"])
    assert event["branch"] == "a\ufffdb\ufffdc\ufffd"


WRONG = [None, True, -1, 0, 1.5, 2**64, "", "x" * 5000, "a\\b\n", [], {}, [[]], "acme/ranker/x", "../..", 10**400]


@pytest.mark.parametrize("path", [
    "action", "repository", "repository.full_name", "pull_request", "pull_request.number", "pull_request.html_url",
    "pull_request.state", "pull_request.merged", "pull_request.head", "pull_request.head.ref", "pull_request.updated_at",
    "pull_request.merge_commit_sha", "pull_request.body", "pull_request.base",
    "installation", "installation.id",
])  # fmt: skip
def test_wrong_members_do_no_harm(hook, path):
    """Of each member that is read: the delivery is taken, and either says nothing or leaves the member out."""
    *parents, name = path.split(".")
    for value in WRONG:
        payload = pull_request(new_repo()) | {"installation": {"id": 5}}
        inner = payload
        for parent in parents:
            inner = inner[parent]
        inner[name] = value
        answer = hook.deliver("pull_request", payload).json()
        for event in hook.events(answer["delivery_id"]):
            assert sorted(event) == sorted(MEMBERS)
            assert len(json.dumps(event)) < 32768
        assert answer["status"] == "applied" or "is missing or has another form" in answer["reason"] \
            or "is not valid JSON" in answer["reason"], answer  # fmt: skip


@pytest.mark.parametrize("body, reason", [
    (b"", "the content is not valid JSON"),
    (b"{", "the content is not valid JSON"),
    (b"[]", "the content is not an object"),
    (b"null", "the content is not an object"),
    (b"\xff\xfe", "the content is not valid JSON"),
    (b'{"action": "a\\u0000"}', "action is missing or has another form"),
    (b'{"a": 1, "a": 2}', "action is missing or has another form"),
    (b"[" * 100000, "the content is not valid JSON"),
    (b'{"a":' * 100000, "the content is not valid JSON"),
])  # fmt: skip
def test_what_cannot_be_read_is_recorded(hook, body, reason):
    answer = hook.deliver("issues", body).json()
    assert answer["status"] == "ignored" and answer["reason"].startswith(reason)
    assert hook.row(answer["delivery_id"]) == ("ignored", answer["reason"])


def installed(hook, installation, *repos):
    """Let svc-integrations remember an installation; returns a function that says of which repositories it still does."""
    for repo in repos:
        integrations_tables.remember_installation(hook.connection, repo, installation)
    return lambda: integrations_tables.installed(hook.connection, repos)


@pytest.mark.parametrize("event, action", [
    ("installation", "deleted"), ("installation", "suspend"), ("installation_repositories", "removed"),
    ("installation_target", "renamed"),
])  # fmt: skip
def test_events_of_an_installation_forget_it(hook, event, action):
    gone, kept = secrets.randbits(40) + 1, secrets.randbits(40) + 1
    first, other = new_repo(), new_repo()
    is_known, is_other_known = installed(hook, gone, first), installed(hook, kept, other)
    answer = hook.deliver(event, {"action": action, "installation": {"id": gone}}).json()
    assert answer["status"] == "applied"
    assert (is_known(), is_other_known()) == ([], [other])
    (event,) = hook.events(answer["delivery_id"])
    assert (event["installation_id"], event["repo"]) == (gone, None)


def test_each_repository_of_an_installation_is_an_event(hook):
    number, removed = secrets.randbits(40) + 1, [new_repo() for _ in range(3)]
    payload = {"action": "removed", "installation": {"id": number}, "repositories_added": [],
               "repositories_removed": [{"full_name": name} for name in [*removed, removed[0], "no name", None]]}
    answer = hook.deliver("installation_repositories", payload).json()
    assert {event["repo"] for event in hook.events(answer["delivery_id"])} == set(removed)
    again = hook.deliver("installation_repositories", payload).json()
    assert again["status"] == "applied"  # it may have been added in between
    payload["repositories_removed"] = [{"full_name": new_repo()} for _ in range(501)]
    (event,) = hook.events(hook.deliver("installation_repositories", payload).json()["delivery_id"])
    assert event["repo"] is None


@pytest.mark.parametrize("changes, former", [
    ({"repository": {"name": {"from": "old"}}}, "acme/old"),
    ({"owner": {"from": {"user": {"login": "ada"}}}}, "ada/{name}"),
    ({"owner": {"from": {"organization": {"login": "lab"}}}}, "lab/{name}"),
    ({}, "acme/{name}"),
])  # fmt: skip
def test_a_moved_repository_is_forgotten_under_both_names(hook, changes, former):
    name = secrets.token_hex(6)
    full, former = f"acme/{name}", former.format(name=name)
    integrations_tables.forget_installations(hook.connection, full, former)
    is_known = installed(hook, secrets.randbits(40) + 1, *{full, former})
    payload = {"action": "renamed", "changes": changes,
               "repository": {"full_name": full, "name": name, "owner": {"login": "acme"}}}
    assert hook.deliver("repository", payload).json()["status"] == "applied"
    assert is_known() == []


# ---- names of repositories ----


def told_of(number, name, at="2026-01-31T09:30:00Z", action="opened", **members):
    """A delivery that tells a name of the repository of a number."""
    repository = {"id": number, "full_name": name, "updated_at": at, "name": name.split("/")[1], "owner": {"login": name.split("/")[0]}}
    issue = {"number": 1, "html_url": f"https://github.com/{name}/issues/1", "state": "open", "updated_at": at}
    return {"action": action, "repository": repository, "issue": issue, **members}


def renamed(number, former, name, at):
    changes = {"repository": {"name": {"from": former.split("/")[1]}}}
    return told_of(number, name, at, "renamed", changes=changes)


@pytest.fixture
def number():
    return secrets.randbelow(1 << 40) + 1


def test_a_name_is_told_once(hook, number):
    one, two, three = (new_repo() for _ in range(3))
    hook.deliver("issues", told_of(number, one))
    hook.deliver("issues", told_of(number, one, "2026-01-31T09:31:00Z"))
    hook.deliver("repository", renamed(number, one, two, "2026-01-31T09:32:00Z"))
    hook.deliver("repository", renamed(number, one, two, "2026-01-31T09:32:00Z"))  # of the repository's own webhook
    hook.deliver("issues", told_of(number, two, "2026-01-31T09:32:00Z"))
    hook.deliver("issues", told_of(number, three, "2026-01-31T09:33:00Z"))  # the rename was lost
    assert hook.names(number) == [(one, None), (two, one), (three, two)]


def test_endpoints_follow_a_repository(api, hook, number):
    one, two = new_repo(), new_repo()

    def make(*repos):
        given = {"kind": "webhook", "url": "https://hooks.example.org/expops", "events": ["*"], "repos": repos}
        return api.post("/webhooks", given, expect=201).json()

    made, other = make(one.upper(), "acme/other"), make("acme/other")
    hook.deliver("repository", renamed(number, one, two, "2026-01-31T09:32:00Z"))
    repos = [api.get(f"/webhooks/{each['id']}", expect=200).json()["repos"] for each in (made, other)]
    assert repos == [[two, "acme/other"], ["acme/other"]]
    assert make(one)["repos"] == [two] and make(two, one)["repos"] == [two]
    assert api.patch(f"/webhooks/{other['id']}", {"repos": [one, "acme/other"]}, expect=200).json()["repos"] == [two, "acme/other"]


def test_the_first_that_is_heard_of_a_repository_can_be_its_rename(hook, number):
    one, two = new_repo(), new_repo()
    hook.deliver("repository", renamed(number, one, two, "2026-01-31T09:32:00Z"))
    assert hook.names(number) == [(two, one)]


def test_a_transfer_names_the_former_owner(hook, number):
    former = new_repo()
    now = f"beta/{former.split('/')[1]}-new"
    payload = told_of(number, now, "2026-01-31T09:32:00Z", "transferred")
    payload["changes"] = {"owner": {"from": {"organization": {"login": "acme"}}}, "repository": {"name": {"from": former.split("/")[1]}}}
    hook.deliver("repository", payload)
    assert hook.names(number) == [(now, former)]


def test_a_late_delivery_does_not_bring_a_former_name_back(hook, number):
    one, two, three = (new_repo() for _ in range(3))
    hook.deliver("issues", told_of(number, one, "2026-01-31T09:30:00Z"))
    hook.deliver("repository", renamed(number, two, three, "2026-01-31T09:33:00Z"))
    hook.deliver("repository", renamed(number, one, two, "2026-01-31T09:32:00Z"))
    hook.deliver("issues", told_of(number, two, "2026-01-31T09:32:30Z"))
    hook.deliver("issues", told_of(number, one, "2026-01-31T09:33:00Z"))  # of the same second as the rename
    hook.deliver("issues", told_of(number, one, None))
    assert hook.names(number) == [(one, None), (three, one)]
    hook.deliver("repository", renamed(number, three, one, "2026-01-31T09:34:00Z"))  # this one does
    assert hook.names(number)[2:] == [(one, three)]


def test_a_name_goes_to_the_repository_that_has_it_now(hook, number):
    """Also when the rename of the one before was lost; what comes late of that one does not take it back."""
    one, successor = new_repo(), number + 1
    hook.deliver("issues", told_of(number, one, "2026-01-31T09:30:00Z"))
    hook.deliver("issues", told_of(successor, one, "2026-01-31T09:40:00Z"))
    hook.deliver("issues", told_of(number, one, "2026-01-31T09:35:00Z"))
    assert (hook.names(number), hook.names(successor)) == ([(one, None)], [(one, None)])
    two = new_repo()
    hook.deliver("issues", told_of(number, two, "2026-01-31T09:41:00Z"))
    assert hook.names(number)[1:] == [(two, f"_/{number}")]


def test_events_have_the_number_of_their_repository(hook, number):
    repo = new_repo()
    answer = hook.deliver("issues", told_of(number, repo)).json()
    (event,) = hook.events(answer["delivery_id"])
    assert (event["repo"], event["repository_id"]) == (repo, number)
    lists = {"repositories_added": [{"id": number, "full_name": repo}], "repositories_removed": [{"id": number + 1, "full_name": new_repo()}]}
    payload = {"action": "added", "installation": {"id": 5}, **lists}
    events = hook.events(hook.deliver("installation_repositories", payload).json()["delivery_id"])
    assert {event["repository_id"] for event in events} == {number, number + 1}
    assert hook.names(number + 1) == [(payload["repositories_removed"][0]["full_name"], None)]
