"""Whole numbers are integers in any JSON spelling, where they are stored and where they are computed with."""

import json

import pytest

from lib.scenario.fleet import REPO, SCOPES
from lib.scenario.words import new_word


@pytest.fixture
def post(api):
    """post(path, text): the answer to a body that is sent as it is."""

    def send(path, text, of=api, method="POST"):
        answer = of.request(method, path, content=text.encode(), headers={"Content-Type": "application/json"})
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    return send


def shown(answer, name):
    """The value as the answer spells it."""
    return json.dumps(answer[name])


def test_of_a_run(api, post):
    body = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    key = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    text = f'{{"repo": "{REPO}", "run_id": 1.7e1, "input_tokens": 1234.0, "output_tokens": 1e3, "num_turns": -0.0, "kept": 5.0}}'
    run = post("/fleet/runs", text, of=key)
    assert [shown(run, name) for name in ("run_id", "input_tokens", "output_tokens", "num_turns", "kept")] == ["17", "1234", "1000", "0", "5.0"]
    assert "ignored" not in run
    assert key.post("/fleet/runs", {"repo": REPO, "run_id": 17}, expect=200).json()["input_tokens"] == 1234
    kpis = api.get("/fleet/agents/report", expect=200).json()["kpis"]
    assert (kpis["input_tokens"], kpis["output_tokens"]) == (1234, 1000)
    for number in ("1e15", "1000000000000000.0"):
        assert "ignored" not in post("/fleet/runs", f'{{"repo": "{REPO}", "run_id": 18, "input_tokens": {number}}}', of=key)


def test_of_an_interest(post, api):
    made = post("/interests", f'{{"name": "{new_word()}", "context": "x", "daily_count": 3.0}}')
    assert shown(made, "daily_count") == "3"
    assert shown(post(f"/interests/{made['id']}", '{"daily_count": 0.4e1}', method="PUT"), "daily_count") == "4"
    post("/papers/recommended/refresh", '{"num_results": 2.0}')


def test_of_an_evaluation(post, api):
    spec = '{"image": "x", "command": "y", "resources": {"pids": 1e2, "memory_mb": 64.0, "timeout_seconds": 6e1, "cpus": 1.5}}'
    template = post("/eval-env/templates", f'{{"name": "{new_word()}", "spec": {spec}}}')
    assert json.dumps(template["spec"]["resources"], sort_keys=True) == '{"cpus": 1.5, "memory_mb": 64, "pids": 100, "timeout_seconds": 60}'
    run = post("/eval-env/runs", f'{{"template_id": "{template["template_id"]}", "timeout_seconds": 60.0, "params": {{"lr": 1.0}}}}')
    assert shown(run, "params") == '{"lr": 1.0}'


def test_of_a_key(post, api):
    made = post("/account/api-keys", f'{{"name": "{new_word()}", "expires_in_days": 3.0}}')
    assert made["expires_at"]
    api.delete(f"/account/api-keys/{made['id']}", expect=200)


def test_of_a_paper(post, operator):
    summary = '{"total": 2.0, "classified": 1e0, "by_class": {"own": 1.0}}'
    path = "/search/assets/2605.99777"
    paper = post(path, f'{{"title": "{new_word()}", "abstract": "a", "reference_summary": {summary}}}', of=operator.api, method="PUT")
    assert json.dumps(paper["reference_summary"], sort_keys=True) == '{"by_class": {"own": 1}, "classified": 1, "total": 2}'


def test_what_is_no_whole_number_is_refused(api):
    for text in ("3.5", "9007199254740992.0", "1e300", '"3"'):
        answer = api.request("POST", "/papers/recommended/refresh", content=f'{{"num_results": {text}}}'.encode(),
                             headers={"Content-Type": "application/json"})
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "num_results", text
