"""The whole loop through public operations: what `deploy/dev demo` plays, and how an agent implements an experiment."""

import pytest

from lib.scenario.story import Story
from lib.wait import wait_for


def play(cluster, runner, tools, code_host):
    before = code_host.last_number()
    story = Story(cluster.user().api, code_host, runner, tools, cluster.mail_server, say=print)
    played = story.play()
    return {**played, "repo": story.repo, "requests": code_host.requests(before)}


@pytest.mark.usefixtures("papers")
def test_the_loop(cluster, runner, tools, code_host):
    facts = play(cluster, runner, tools, code_host)
    papers, record, pull = facts["recommendations"], facts["run"]["record"], facts["pull_request"]
    (source,) = facts["interest"]["context_sources"]
    assert (source["kind"], source["status"]) == ("repository", "read")
    assert {step["status"] for step in facts["provisioning"]["task"]["steps"]} == {"completed", "skipped"}
    assert [job.result for job in facts["run"]["run"].jobs.values()] == ["success"] * 5
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
    told = facts["messages"]
    assert set(told["checked"]) == {"ok"} and len(told["mails"]) >= len(told["checked"]) and not any(mail.defects for mail in told["mails"])
    tried = facts["experiment"]
    assert (tried["made"]["outcome"], tried["result"]["delta_confidence"]) == ("ship", "significant")
    assert_way_is_whole(tried["evidence"], tried["made"]["id"])
    judged = [row for row in facts["requests"] if "violations" in row]
    assert len(judged) > 20 and not [row for row in judged if row["violations"]]
    assert {row["headers"]["user-agent"].split("/")[0] for row in judged} >= {"curl", "expops"}


def assert_way_is_whole(evidence, experiment):
    """From the paper to the decision everything hangs together, and a record states each edge."""
    kinds = {node["kind"] for node in evidence["nodes"]}
    assert kinds >= {"paper", "recommendation", "run", "pull_request", "experiment", "analysis", "decision"} and evidence["missing"] == []
    assert {edge["basis"] for edge in evidence["edges"]} == {"stated"}
    reached, waiting = set(), {experiment}
    while waiting:
        reached |= waiting
        waiting = {end for edge in evidence["edges"] for end in (edge["from"], edge["to"]) if {edge["from"], edge["to"]} & reached} - reached
    assert reached == {node["id"] for node in evidence["nodes"]}


def test_an_experiment_is_implemented_by_the_workflow(working_team, usual, runner, tools):
    """The agent gets the brief, works on the branch that has it, and what becomes of its pull request is known."""
    team = working_team
    launch = {"task_description": "Swap the `kernel`; keep $(its name).", "target_repo": team.repo}
    experiment = team.api.post("/experiments", {"name": "Faster encoder", "launch_context": launch}, expect=201).json()["id"]
    known = len(team.host.runs(team.repo))

    def status_if(**members):
        status = team.api.get(f"/implement/experiments/{experiment}/status", expect=200).json()
        return status if members.items() <= status.items() else None

    tools.agent('cp "$BRIEF" read.md; ls .expops >>read.md')
    team.api.post(f"/implement/experiments/{experiment}/run", expect=202)
    wait_for(lambda: status_if(pipeline_status="running"), "the workflow is started")
    (row,) = team.host.runs(team.repo)[known:]
    run = runner.run(team.repo, row)
    assert run.conclusion == "success", run.log()
    pull = team.pull_of(row)
    assert wait_for(lambda: status_if(pr_url=pull["html_url"]), "the pull request is known")["pr_status"] == "open"
    read = team.host.files(team.repo, pull["head"]["ref"])["read.md"]
    assert launch["task_description"] in read and f"{experiment}.md" in read and "Faster encoder" in pull["title"]
    team.host.merge(team.repo, pull["number"])
    wait_for(lambda: status_if(pr_status="merged"), "the merge is known")
