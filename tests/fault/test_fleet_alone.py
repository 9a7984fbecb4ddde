"""svc-fleet while what it works with is away: reads answer from its own records, and telemetry is taken."""

import uuid

import pytest

REPO = "acme/alone"
READS = ["/fleet/runs", f"/fleet/runs?repo={REPO}&include=selection", "/fleet/agents/report", "/fleet/agents/inbox",
         f"/fleet/agents/activity?repo={REPO}", "/fleet/installations"]
ASKED = {
    "/fleet/agents/runs/analyze": {"repo": REPO, "run_id": 1},
    "/fleet/agents/artifact/evidence": {"artifact": {"run_id": 1}},
    "/fleet/agents/inbox/digest": {"href": f"https://github.com/{REPO}/pull/1"},
    "/fleet/agents/chat": {"repo": REPO, "messages": [{"role": "user", "content": "What failed?"}]},
    "/fleet/agents/inbox/dismiss": {"id": str(uuid.uuid4())},
}


@pytest.fixture
def agent(api):
    body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": REPO}
    key = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    members = {"status": "pr_opened", "artifact_url": f"https://github.com/{REPO}/pull/1"}
    key.post("/fleet/runs", {"run_id": 1, "repo": REPO, **members}, expect=201)
    return key


@pytest.mark.parametrize("away", ["redis", "svc-integrations", "svc-interests"])
def test_what_needs_nobody_else_works(cluster, api, agent, away):
    if away == "redis":
        cluster.redis.kill9()
    else:
        cluster.kill9(away)
    for path in READS:
        api.get(path, expect=200)
    for path, body in ASKED.items():
        api.post(path, body, expect=200)
    agent.post("/fleet/runs", {"run_id": f"while {away} is away", "repo": REPO, "status": "failed"}, expect=201)


def test_a_trigger_says_what_is_missing(cluster, api, agent):
    cluster.kill9("svc-integrations")
    answer = api.post("/fleet/trigger", {"repo": REPO, "agent": "agent_one"})
    assert answer.status_code == 503 and "integrations" in answer.json()["detail"], answer.text
