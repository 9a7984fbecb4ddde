"""The whole loop through public operations: what `deploy/dev demo` plays."""

import pytest

from lib.story import Story


@pytest.fixture
def facts(cluster, papers, runner, tools, code_host):
    before = code_host.last_number()
    story = Story(cluster.user().api, code_host, runner, tools, say=print)
    played = story.play()
    return {**played, "repo": story.repo, "requests": code_host.requests(before)}


def test_the_loop(facts):
    papers, record, pull = facts["recommendations"], facts["run"]["record"], facts["pull_request"]
    (source,) = facts["interest"]["context_sources"]
    assert (source["kind"], source["status"]) == ("repository", "read")
    assert {step["status"] for step in facts["provisioning"]["task"]["steps"]} == {"completed", "skipped"}
    assert [job.result for job in facts["run"]["run"].jobs.values()] == ["success"] * 3
    assert (record["status"], record["test_status"], record["cost_usd"]) == ("pr_opened", "passed", 0.37)
    assert (record["arxiv_id"], record["recommendation_id"]) == (papers[0]["resource_id"], papers[0]["recommendation_id"])
    assert set(record["files_touched"]) == {"README.md", "ranker.py", "test_length.py"}
    assert pull["pull"]["title"] == papers[0]["title"] and pull["merged"]
    assert "pull_request" in pull["told"] and [row["repo"] for row in pull["waiting"]] == [facts["repo"]]
    kpis = facts["fleet"]["kpis"]
    assert (kpis["runs"], kpis["pull_requests_opened"], kpis["pull_requests_merged"]) == (1, 1, 1)
    assert kpis["cost_usd"] == kpis["cost_per_merged_pull_request"] == 0.37
    assert (facts["model"]["result"]["examples"], facts["model"]["result"]["positives"]) == (5, 3)
    assert len(facts["model"]["new"]) == 3
    judged = [row for row in facts["requests"] if "violations" in row]
    assert len(judged) > 20 and not [row for row in judged if row["violations"]]
    assert {row["headers"]["user-agent"].split("/")[0] for row in judged} >= {"curl", "expops"}
