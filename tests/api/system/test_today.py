"""The metrics of the present day, which the dashboard of the product shows, are what the tables say."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from lib.tables import fleet, integrations, interests
from lib.wait import wait_for

REPO = "acme/today"


@pytest.fixture
def starts(cluster):
    """starts(name): a replica that measures now."""
    made = []

    def start(name):
        made.append(cluster.separate(name, "today"))
        made[-1].start()
        made[-1].wait_ready()
        return made[-1]

    yield start
    for process in made:
        process.stop()
        assert process.check() == []


def test_runs_their_cost_and_merges(cluster, user, api, starts):
    body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": REPO}
    key = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    now = datetime.now(UTC)
    for number, started in enumerate([now, now, now - timedelta(days=2)], 1):
        report = {"run_id": number, "repo": REPO, "status": "pr_opened", "started_at": started.isoformat(), "cost_usd": 1.25,
                  "artifact_url": f"https://github.com/{REPO}/pull/{number}"}  # fmt: skip
        key.post("/fleet/runs", report, expect=201)
    with cluster.postgres.connect("fleet") as db:
        fleet.own_repository(db, user.account, REPO)
        fleet.tell_item(db, REPO, "pull_request", 1, "merged", now, now)
        fleet.tell_item(db, REPO, "pull_request", 3, "merged", now - timedelta(days=2), now - timedelta(days=1))
        runs, cost, merged = fleet.today(db)
    assert runs >= 2 and cost >= 2.5 and merged >= 1
    service = starts("svc-fleet")
    names = ["expops_today_runs", "expops_today_cost_usd", "expops_today_merged_pull_requests"]
    wait_for(lambda: [service.metric(name) for name in names] == [runs, cost, merged], "it has measured")


def test_recommendations(cluster, api, starts):
    made = api.post("/interests", {"name": "today", "context": "sparse attention", "is_active": False}, expect=201).json()
    with cluster.postgres.connect("interests") as db:
        for days, paper in [(0, "2401.00001"), (0, "2401.00002"), (1, "2401.00003")]:
            interests.add_recommendation(db, made["id"], paper, minutes=-days * 24 * 60)
        count = interests.recommended_today(db)
    assert count >= 2
    service = starts("svc-interests")
    wait_for(lambda: service.metric("expops_today_recommendations") == count, "it has measured")


def test_digests(cluster, user, starts):
    with cluster.postgres.connect("integrations") as db:
        endpoint = str(uuid.uuid4())
        integrations.take_message(db, user.account, str(uuid.uuid4()))  # which makes the day
        for type, status in [("digest.ready", "delivered"), ("digest.ready", "pending"), ("run.finished", "delivered")]:
            integrations.add_today(db, user.account, endpoint, type, status)
        count = integrations.digests_delivered_today(db)
    assert count >= 1
    service = starts("svc-integrations")
    wait_for(lambda: service.metric("expops_today_digests") == count, "it has measured")
