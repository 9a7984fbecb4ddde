"""Twenty tasks as people give them to a model, each as the calls of tools that do it, by the official client, with a check by REST of what
is then true. A task that needs more than its calls, or cannot be done by them, is a tool that lacks something."""

import json

import pytest

from lib.http.mcp import NOTICE
from lib.outside.mcp_clients import OfficialClient, node_version
from lib.wait import wait_for

MODE = "auto" if node_version() >= 20 else "sdk"
CONTEXT = "Attention for long sequences that needs less memory: sparse, linear, IO-aware kernels."
REPO = "acme/ranker"

TASKS = []


def task(words):
    """A task in words: a function of the client's tools and of a client of the API."""

    def add(function):
        TASKS.append(pytest.param(function, id=words))
        return function

    return add


def follow(tools, name="Efficient attention"):
    """An interest with recommendations."""
    made = tools.tool("create_interest", name=name, context=CONTEXT)
    number = tools.tool("refresh_recommendations", interest_id=made["id"])["task_id"]
    wait_for(lambda: tools.tool("refresh_recommendations", task_id=number)["status"] == "completed", "the refresh ended")
    return made


def papers_of(digest):
    return [paper for interest in digest["interests"] for paper in interest["papers"]]


@task("find what is new on attention for my team and plan an experiment with the best one")
def plan_with_the_best(tools, api):
    follow(tools)
    best = max(papers_of(tools.tool("get_digest")), key=lambda paper: paper["relevance_score"])
    made = tools.tool("save_experiment", name=best["title"][:200], hypothesis=best["suggested_experiment"], arxiv_id=best["arxiv_id"])
    whole = api.get(f"/experiments/{made['id']}", expect=200).json()
    assert (whole["source_ref"], whole["status"], whole["created_via"]) == (best["arxiv_id"], "draft", "mcp")


@task("follow a subject and give me three papers a day on it")
def follow_a_subject(tools, api):
    tools.tool("create_interest", name="Small vision models", context="Detection on small devices.", daily_count=3)
    (interest,) = api.get("/interests", expect=200).json()
    assert (interest["name"], interest["daily_count"], interest["is_active"]) == ("Small vision models", 3, True)


@task("compute recommendations now")
def refresh_now(tools, api):
    follow(tools)
    assert len(api.get("/papers/recommended", params={"period": "week"}, expect=200).json()) >= 3


@task("why was the first paper recommended?")
def why(tools, api):
    follow(tools)
    first = papers_of(tools.tool("get_digest"))[0]
    told = tools.tool("explain_recommendation", recommendation_id=first["recommendation_id"])
    whole = api.get(f"/papers/recommended/{first['recommendation_id']}/explanation", expect=200).json()
    assert told["contributions"]["retrieval"] == whole["retrieval"]["contribution"]
    assert [term["word"] for term in told["terms"]] == [term["word"] for term in whole["retrieval"]["search"]["lexical"]["terms"][:5]]


@task("I like the first paper, and do not want to see the second")
def rate(tools, api):
    follow(tools)
    first, second, *_ = papers_of(tools.tool("get_digest"))
    tools.tool("rate_recommendation", recommendation_id=first["recommendation_id"], signal="like")
    tools.tool("rate_recommendation", recommendation_id=second["recommendation_id"], signal="dismiss")
    (interest,) = api.get("/interests", expect=200).json()
    refit = api.post(f"/experiment-histories/{interest['experiment_history_id']}/refit-preference-model", expect=202)
    learnt = api.wait_task(refit)["result"]
    assert (learnt["examples"], learnt["positives"]) == (2, 1)


@task("what did this week bring?")
def week(tools, api):
    follow(tools)
    digest = tools.tool("get_digest", period="week", limit=1)
    assert digest["total"] == 1 == api.get("/papers/recommended/digest?period=week&limit=1", expect=200).json()["total"]


@task("search papers with code on retrieval in cs.CL")
def search(tools, api):
    found = tools.tool("search_papers", query="retrieval augmented generation", categories=["cs.CL"], max_results=10)["items"]
    body = {"query": "retrieval augmented generation", "categories": ["cs.CL"], "max_results": 10}
    assert [paper["arxiv_id"] for paper in found] == [hit["arxiv_id"] for hit in api.post("/search/assets", body, expect=200).json()]


@task("summarise paper 2605.11354 with its code")
def read_paper(tools, api):
    paper = tools.tool("get_paper", arxiv_id="2605.11354")
    whole = api.get("/search/assets/2605.11354", expect=200).json()
    assert (paper["abstract"], paper["code"], paper["notice"]) == (whole["abstract"], whole["github_url"], NOTICE)


@task("which experiments are running?")
def running(tools, api):
    api.post("/experiments", {"name": "still a draft"}, expect=201)
    made = api.post("/experiments", {"name": "runs", "status": "running"}, expect=201).json()
    assert [one["id"] for one in tools.tool("list_experiments", status="running")["items"]] == [made["id"]]


@task("the experiment has ended: latency fell by 40 %, ship it")
def record_result(tools, api):
    made = api.post("/experiments", {"name": "fused kernel", "status": "running"}, expect=201).json()
    (one,) = tools.tool("list_experiments")["items"]
    tools.tool("save_experiment", experiment_id=one["id"], status="shipped", outcome="ship", observed_delta=-0.4,
               delta_confidence="significant", target_metric="latency", decision="Ship it.")
    whole = api.get(f"/experiments/{made['id']}", expect=200).json()
    assert (whole["status"], whole["outcome"], whole["observed_delta"], whole["name"]) == ("shipped", "ship", -0.4, "fused kernel")


@task("what can be implemented next? implement it and report")
def implement(tools, api):
    context = {"task_description": "Use the fused kernel.", "target_repo": REPO}
    made = api.post("/experiments", {"name": "kernel", "launch_context": context}, expect=201).json()
    (one,) = tools.tool("list_experiments", actionable=True)["items"]
    brief = tools.call("callTool", name="get_implementation_context", arguments={"experiment_id": one["id"]})["content"][0]["text"]
    assert "Use the fused kernel." in brief
    tools.tool("report_implementation", experiment_id=one["id"], status="running")
    tools.tool("report_implementation", experiment_id=one["id"], status="pr_opened", pr_url="https://example.org/pull/7", branch_name="b")
    whole = api.get(f"/experiments/{made['id']}", expect=200).json()
    assert (whole["pr_url"], whole["branch_name"], whole["pipeline_status"]) == ("https://example.org/pull/7", "b", "pr_opened")
    assert tools.tool("list_experiments", actionable=True)["items"] == []


@task("the implementation has failed, say why")
def report_failure(tools, api):
    made = api.post("/experiments", {"name": "kernel"}, expect=201).json()
    tools.tool("report_implementation", experiment_id=made["id"], status="failed", summary="The kernel does not build.")
    assert api.get(f"/experiments/{made['id']}", expect=200).json()["pipeline_status"] == "failed"


@task("how do our agents do, and what do they cost?")
def fleet(tools, api):
    body = {"name": "a", "kind": "automation", "scopes": ["fleet:report"], "repo": REPO}
    agent = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    for number, status in enumerate(("pr_opened", "failed")):
        agent.post("/fleet/runs", {"run_id": number, "repo": REPO, "status": status, "cost_usd": 1.5}, expect=201)
    report = tools.tool("get_fleet_report")
    assert report["kpis"]["runs"] == 2 and report["kpis"]["cost_usd"] == 3
    assert report["headline"] == api.get("/fleet/agents/report", expect=200).json()["headline"]


@task("what waits for me?")
def inbox(tools, api):
    body = {"name": "a", "kind": "automation", "scopes": ["fleet:report"], "repo": REPO}
    agent = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    agent.post("/fleet/runs", {"run_id": 1, "repo": REPO, "status": "failed"}, expect=201)
    wait_for(lambda: api.get("/fleet/agents/inbox", expect=200).json(), "it is in the inbox")
    (item,) = tools.tool("list_inbox")["items"]
    assert item["repo"] == REPO and item["kind"] == "run_failed"


@task("start the agent on a repository that is not ours")
def start_elsewhere(tools, api):
    assert "Ask the user, then call again with confirm true." in tools.fault("start_run", repo="other/repo")
    assert tools.fault("start_run", repo="other/repo", confirm=True)
    assert api.get("/fleet/runs", expect=200).json() == []


@task("plan the same experiment again: there must be one")
def plan_twice(tools, api):
    plan = {"name": "sparse attention", "hypothesis": "Half the memory.", "tags": ["memory"]}
    assert tools.tool("save_experiment", **plan)["id"] == tools.tool("save_experiment", **plan)["id"]
    assert len(api.get("/experiments", expect=200).json()) == 1


@task("correct a call with a wrong argument, by what it says")
def correct(tools, api):
    fault = tools.fault("save_experiment", name="x", status="done")
    known = json.loads(fault.split("status: must be one of ", 1)[1].splitlines()[0])
    made = tools.tool("save_experiment", name="x", status=next(status for status in known if status.startswith("comp")))
    assert api.get(f"/experiments/{made['id']}", expect=200).json()["status"] == "complete"


@task("find an experiment although its id was copied wrongly")
def wrong_id(tools, api):
    made = api.post("/experiments", {"name": "the one"}, expect=201).json()
    fault = tools.fault("get_experiment", experiment_id="0" * 8 + made["id"][8:])
    assert "list_experiments gives ids" in fault
    found = next(one for one in tools.tool("list_experiments")["items"] if one["name"] == "the one")
    assert tools.tool("get_experiment", experiment_id=found["id"])["id"] == made["id"]


@task("list all experiments, page by page")
def pages(tools, api):
    for number in range(7):
        api.post("/experiments", {"name": f"{number}"}, expect=201)
    names, offset = [], 0
    while offset is not None:
        page = tools.tool("list_experiments", limit=3, offset=offset)
        names += [one["name"] for one in page["items"]]
        offset = page["next_offset"]
    assert names == [one["name"] for one in api.get("/experiments", expect=200).json()]


@task("review the digest with me, by the prompt, and read the day's digest as a document")
def by_prompt(tools, api):
    follow(tools)
    text = tools.call("getPrompt", name="review_digest")["messages"][0]["content"]["text"]
    named = [tool["name"] for tool in tools.call("listTools")["tools"] if tool["name"] in text]
    assert named == ["get_digest", "explain_recommendation", "rate_recommendation", "save_experiment"]
    shown = papers_of(tools.tool("get_digest"))
    document = tools.call("readResource", uri="expops://digest/today")["contents"][0]["text"]
    assert all(paper["title"] in document for paper in shown)


def test_there_are_twenty():
    assert len(TASKS) == 20


@pytest.mark.parametrize("do", TASKS)
def test_task(cluster, papers, user, api, do):
    with OfficialClient(cluster.gateway_url, user.key, MODE) as tools:
        do(tools, api)
