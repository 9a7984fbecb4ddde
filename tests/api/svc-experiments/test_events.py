"""Events that svc-experiments emits and receives."""

import json
import uuid

import pytest

from lib.scenario.deletion import wait_deletion
from lib.tables import common
from lib.tables import experiments as experiments_tables
from lib.wait import wait_for

STREAM = "events.experiments"


@pytest.fixture
def emitted(cluster):
    """emitted(experiment, count): wait for `count` events about it; returns them as (type, data, entry). An event can be
    delivered twice; it is returned once."""
    redis = cluster.redis.client()

    def read(experiment, count):
        def found():
            entries = [fields for _, fields in redis.xrange(STREAM)]
            of_it = {e["id"]: e for e in entries if json.loads(e["data"]).get("id") == experiment["id"]}
            return list(of_it.values()) if len(of_it) >= count else None

        return [(e["type"], json.loads(e["data"]), e) for e in wait_for(found, f"{count} events")]

    return read


def test_every_change_emits_one_event(user, api, make, make_project, emitted, writable, fixed):
    project = make_project()["id"]
    made = make(**writable, **fixed, project_id=project)
    path = f"/experiments/{made['id']}"
    api.put(path, {"status": "shipped", "outcome": "ship"}, expect=200)
    api.put(path, {"status": "shipped"}, expect=200)
    api.post(f"/implement/experiments/{made['id']}/report", {"status": "running"}, expect=200)
    api.delete(f"/projects/{project}", expect=200)
    last = api.get(path).json()
    api.delete(path, expect=200)
    events = emitted(made, 5)
    assert [kind for kind, _, _ in events] == [
        "experiment.created", "experiment.updated", "experiment.updated", "experiment.updated", "experiment.deleted",
    ]
    data = events[1][1]
    assert data["arxiv_ids"] == ["2205.14135"]
    names = [
        "id", "name", "outcome", "status", "decision", "observed_delta", "delta_confidence", "target_metric",
        "source_type", "source_ref",
    ]
    shown = {**made, "status": "shipped", "outcome": "ship"}
    assert {name: data[name] for name in names} == {name: shown[name] for name in names}
    assert [data["project_id"] for _, data, _ in events] == [project] * 3 + [None] * 2
    assert [data["version"] for _, data, _ in events] == [1, 2, 3, 4, 4]
    assert events[3][1]["updated_at"] == last["updated_at"]
    assert {entry["account"] for _, _, entry in events} == {user.account}


def test_an_event_names_its_request(api, emitted):
    answer = api.post("/experiments", {"name": "x"}, headers={"X-Request-Id": "from-the-test"}, expect=201)
    ((_, _, entry),) = emitted(answer.json(), 1)
    assert entry["request_id"] == answer.headers["x-request-id"] == "from-the-test"


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("2205.14135v12", ["2205.14135"]),
        ("https://export.arxiv.org/pdf/2205.14135v1.pdf", ["2205.14135"]),
        ("hep-th/9901001v3", ["hep-th/9901001"]),
        ("arXiv:math.GT/0309136", ["math/0309136"]),
        ("10.1000/182", []),
        ("2205.14135" * 25, []),
        ("", []),
    ],
)
def test_an_event_has_canonical_arxiv_ids(make, emitted, written, ids):
    links = [{"type": "arxiv_paper", "id": written}]
    made = make(source_type="arxiv_paper", source_ref=written, linked_resources=links,
                launch_context={"resource": {"arxiv_id": written}})
    ((_, data, _),) = emitted(made, 1)
    assert data["arxiv_ids"] == ids


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("bioRxiv:10.1101/2026.11.20.123456v2", ["biorxiv:10.1101/2026.11.20.123456"]),
        ("https://www.medrxiv.org/content/10.1101/19000001v1.full.pdf", ["medrxiv:10.1101/19000001"]),
        ("biorxiv:10.1101/x", []),
        ("https://example.org/content/10.1101/19000001", []),
    ],
)
def test_an_event_has_canonical_ids_of_preprints(make, emitted, written, ids):
    made = make(source_type="biorxiv_paper", source_ref=written, linked_resources=[{"type": "medrxiv_paper", "id": written}])
    ((_, data, _),) = emitted(made, 1)
    assert data["arxiv_ids"] == ids


def test_an_event_is_bounded_in_bytes(api, make, emitted):
    wide = "\N{GRINNING FACE}"
    made = make(name=wide * 500, hypothesis=wide * 3000, decision=wide * 3000, target_metric=wide * 500,
                source_type="arxiv_paper", source_ref=wide * 512,
                linked_resources=[{"type": "arxiv_paper", "id": f"2205.{10000 + i}"} for i in range(100)])
    ((_, data, _),) = emitted(made, 1)
    assert len(json.dumps(data, ensure_ascii=False).encode()) <= 32 * 1024
    assert len(data["arxiv_ids"]) == 100


@pytest.mark.parametrize(
    "body",
    [
        {"source_ref": "\N{GRINNING FACE}" * 513},
        {"launch_context": {"resource": {"arxiv_id": "9" * 256}}},
        {"launch_context": {"resource": {"title": "t" * 1001}}},
        {"launch_context": {"resource": {"url": "u" * 2049}}},
    ],
)
def test_long_texts_of_events_are_refused(api, body):
    api.problem("POST", "/experiments", 400, "invalid_request", {"name": "long", **body})


def test_a_failed_change_emits_nothing(api, make, emitted, db):
    made = make()
    api.put(f"/experiments/{made['id']}", {"status": 7})
    api.put(f"/experiments/{made['id']}", {"project_id": str(uuid.uuid4())}, expect=400)
    api.put(f"/experiments/{made['id']}", {"status": "running"}, headers={"If-Match": '"9"'}, expect=412)
    api.put(f"/experiments/{made['id']}", {"status": "running"}, expect=200)
    assert [kind for kind, _, _ in emitted(made, 2)] == ["experiment.created", "experiment.updated"]
    assert len(common.outbox(db, id=made["id"])) == 2


def test_an_interest_lists_the_experiments_of_its_project(cluster, api, make, make_project):
    if "svc-interests" not in cluster.processes:
        pytest.skip("svc-interests is not part of the cluster")
    project = make_project()["id"]
    body = {"name": "Attention", "context": "Attention kernels.", "project_id": project}
    path = f"/interests/{api.post('/interests', body, expect=201).json()['id']}"
    made = make(name="Tiles in the encoder", project_id=project)

    def history():
        return api.get(path, expect=200).json()["experiment_history"]

    wait_for(lambda: "Tiles in the encoder" in history(), "the experiment is in the interest's history")
    api.put(f"/experiments/{made['id']}", {"status": "shipped", "name": "Tiles, shipped"}, expect=200)
    wait_for(lambda: "Tiles, shipped (shipped)" in history(), "its change is in the history")
    api.delete(f"/experiments/{made['id']}", expect=200)
    wait_for(lambda: "Tiles" not in history(), "it has left the history")


TABLES = ["experiment", "project", "idempotency"]


def test_deleting_an_account_deletes_all_its_rows(user, api, make, make_project, other_user, db, writable):
    owner = user.account
    made = make(**writable, project_id=make_project()["id"])
    api.put(f"/experiments/{made['id']}", {"status": "draft"}, expect=200)
    api.post(f"/implement/experiments/{made['id']}/report", {"status": "running"}, expect=200)
    api.post("/projects", {"name": "Keyed"}, headers={"Idempotency-Key": "k"}, expect=201)
    kept = other_user.api.post("/experiments", {"name": "Kept"}, expect=201).json()
    api.post("/account/delete", {"confirm": True}, expect=200)
    wait_for(lambda: common.tables_with(db, TABLES, account_id=owner) == [], "nothing of the account is left")
    assert common.tables_with(db, ["experiment_history", "implementation", "report"], experiment_id=made["id"]) == []
    assert other_user.api.get(f"/experiments/{kept['id']}", expect=200).json() == kept


def test_an_account_deletion_may_be_delivered_twice(cluster, user, make, db):
    owner = user.account
    make()
    redis = cluster.redis.client()
    entry = {
        "id": str(uuid.uuid4()), "type": "account.deleted", "account": owner, "at": "2026-01-01T00:00:00.000Z",
        "data": "{}", "request_id": "twice",
    }
    for _ in range(2):
        redis.xadd("events.account", entry)
    wait_for(lambda: common.tables_with(db, ["experiment"], account_id=owner) == [], "the experiments are deleted")

    newest = redis.xinfo_stream("events.account")["last-generated-id"]
    wait_for(lambda: redis.get("events.account.position.svc-experiments") == newest, "both are read")


def test_a_deleted_account_cannot_create(user, make, db):
    common.note_deleted(db, user.account)
    user.api.problem("POST", "/experiments", 400, "invalid_request", {"name": "late"})
    user.api.problem("POST", "/projects", 400, "invalid_request", {"name": "late"})


@pytest.mark.parametrize("table", ["experiment", "project"])
def test_rows_created_during_the_deletion_of_an_account_are_deleted(cluster, user, db, table):
    owner = user.account
    with cluster.postgres.connect("experiments") as holder:
        holder.autocommit = False
        experiments_tables.insert_row(holder, table, owner)
        user.api.post("/account/delete", {"confirm": True}, expect=200)
        wait_deletion(db, owner)
        holder.commit()
    wait_for(lambda: common.tables_with(db, [table], account_id=owner) == [], f"{table} is empty")
