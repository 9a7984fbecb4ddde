"""Every fault of a body is named in one answer, also those of several members together, which no row of a table can find."""

import uuid

import pytest

NOWHERE = str(uuid.uuid4())

# (method, path, body, fields that the answer names)
CASES = {
    "telemetry": ("POST", "/fleet/runs", {"run_id": ""}, {"run_id", "repo"}),
    "telemetry, more": ("POST", "/fleet/runs", {"run_id": [], **{f"m{n}": 1 for n in range(501)}, "n" * 101: 1}, {"run_id", "repo"}),
    "telemetry of nothing": ("POST", "/fleet/runs", {}, {"run_id", "repo"}),
    "a personal key": (
        "POST", "/account/api-keys",
        {"name": "", "repo": "acme/ranker", "interest_id": NOWHERE, "scopes": ["search:read", "nosuch"], "preset": "agent", "expires_in_days": 0},
        {"name", "repo", "interest_id", "scopes", "preset", "expires_in_days"},
    ),
    "an automation key": (
        "POST", "/account/api-keys",
        {"kind": "automation", "repo": "ranker", "scopes": ["nosuch"], "expires_in_days": 3},
        {"name", "repo", "scopes", "expires_in_days"},
    ),
    "a changed key": ("PATCH", f"/account/api-keys/{NOWHERE}", {"name": "", "scopes": ["nosuch", "search:read"]}, {"name", "scopes"}),
    "dismissing": ("POST", "/fleet/agents/inbox/dismiss", {"id": "x", "ids": [NOWHERE, "y", "z"], "undo": "no"}, {"id", "ids", "ids[1]", "ids[2]", "undo"}),
    "dismissing nothing": ("POST", "/fleet/agents/inbox/dismiss", {"undo": 1}, {"ids", "undo"}),
    "chat": (
        "POST", "/fleet/agents/chat",
        {"repo": "x", "focus_run_id": "", "messages": [{"role": "boss", "content": "x"}, {"role": "assistant", "content": ""}]},
        {"repo", "focus_run_id", "messages", "messages[0].role", "messages[1].content"},
    ),
    "evidence": ("POST", "/fleet/agents/artifact/evidence", {"artifact": {"repo": "x"}}, {"artifact", "artifact.repo"}),
    "evidence of two": (
        "POST", "/fleet/agents/artifact/evidence", {"artifact": {"url": "x", "run_id": "", "repo": ""}},
        {"artifact", "artifact.url", "artifact.run_id", "artifact.repo"},
    ),
    "trigger": (
        "POST", "/fleet/trigger",
        {"repo": "x", "agent": "agent_one", "provider": "google", "model": "a b", "pin_arxiv": "'", "ref": "a..b"},
        {"repo", "provider", "model", "pin_arxiv", "ref"},
    ),
    "an asset": (
        "PUT", "/search/assets/nosuch",
        {
            "title": "", "categories": ["cs.LG", "a b", 7, ""], "environment_vars": {"A": 1}, "license": 7,
            "reference_summary": {"total": 1, "classified": 2, "by_class": {"own": "x"}},
        },
        {"arxiv_id", "title", "categories", "environment_vars", "license", "reference_summary.by_class", "reference_summary.classified"},
    ),
    "a fork": ("POST", "/github/fork", {"repo": "ranker", "branches": ["", "x"]}, {"repo", "branches"}),
    "a custom model": ("POST", "/integrations/custom/connect", {"api_key": "ü"}, {"api_key", "base_url"}),
    "another model": ("POST", "/integrations/openai/connect", {"base_url": "https://example.org"}, {"api_key", "base_url"}),
    "candidates": (
        "POST", f"/experiment-histories/{NOWHERE}/score-candidates",
        {"limit": 0, "candidates": ["", {"title": ""}, 7, {"title": "t", "abstract": 7}]},
        {"limit", "candidates[0]", "candidates[1].title", "candidates[2]", "candidates[3].abstract"},
    ),
    "a report of a build": ("POST", f"/eval-env/builds/{NOWHERE}/report", {"status": "succeeded", "digest": ""}, {"image", "digest"}),
    "an evaluation": ("POST", "/eval-env/runs", {"name": "", "target": "moon"}, {"template_id", "name", "target"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def operator_api(cluster):
    return cluster.user(operator=True).api


@pytest.mark.parametrize("case", CASES)
def test_every_fault_is_named(operator_api, case):
    method, path, body, fields = CASES[case]
    document = operator_api.problem(method, path, 400, "invalid_request", body)
    assert {fault["field"] for fault in document["errors"]} == fields


def test_every_item_of_a_list_is_named(operator_api):
    body = {"name": "x", "tags": ["fine", "", "x" * 65, 7, "fine"]}
    (fault,) = operator_api.problem("POST", "/experiments", 400, "invalid_request", body)["errors"]
    assert fault["field"] == "tags"
    assert fault["message"] == "item 1 must not be empty; item 2 must have at most 64 characters; item 3 must be a string"


def test_very_many_items_are_counted(operator_api):
    body = {"source": "code_host", "ids": [""] * 1000}
    faults = operator_api.problem("POST", "/fleet/agents/inbox/dismiss", 400, "invalid_request", body)["errors"]
    assert [fault["message"] for fault in faults][0].endswith("; and 980 more")


def test_several_orders_of_days_are_named(operator_api):
    query = {"since": "2026-01-02", "until": "2026-01-01", "merged_since": "2026-01-02", "merged_until": "2026-01-01"}
    document = operator_api.problem("GET", "/fleet/runs", 400, "invalid_request", params=query)
    assert {fault["field"] for fault in document["errors"]} == {"since", "merged_since"}
    document = operator_api.problem("GET", "/integrations/identity/resolve", 400, "invalid_request", params={"source": "x"})
    assert {fault["field"] for fault in document["errors"]} == {"source", "external_id"}
