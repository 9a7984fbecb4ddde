"""What the graph of an experiment says beside its records: names, what was inferred, what the second round brings, and replicas of an
earlier version beside it."""

import json
import threading
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.outside.stub_server import StubServer
from lib.scenario.evidence import Graph, new_paper
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for


def inferred(graph):
    """{edge: rule} of what no record states."""
    return {key: edge["data"]["rule"] for key, edge in graph.edges.items() if edge["basis"] == "inferred"}


def test_nodes_have_labels_and_a_selection_what_it_looked_for(steps, paper):
    other = new_paper()
    url = steps.open(7, paper, refine_queries=["dense retrieval", "☃" * 400], candidates_considered=12)
    steps.report(8, arxiv_id=other, selection_rejected=[{"arxiv_id": paper, "reason": "needs a GPU"}], refine_queries={"of": "another form"})
    experiment = steps.experiment(paper, pr_url=url, outcome="ship")
    graph = steps.evidence(experiment)
    tried, skipped = (next(node["id"] for node in graph.of("run") if node["data"]["run_id"] == number) for number in (7, 8))
    labels = {id: node["label"] for id, node in graph.nodes.items()}
    assert labels[url] == f"{steps.repo}#7" and labels[tried] == f"{steps.repo} 7" and labels[f"selection:{tried}"] == "12 candidates"
    assert labels[f"paper:{paper}"] == f"Paper {paper}" and labels[f"paper:{other}"] == other
    assert labels[graph.one("decision")["id"]] == "ship" and labels[experiment] == graph.nodes[experiment]["data"]["name"]
    assert labels[f"selection:{skipped}"] == "selection"
    assert graph.nodes[f"selection:{tried}"]["data"]["queries"] == ["dense retrieval", "☃" * 300]
    assert graph.nodes[f"selection:{skipped}"]["data"]["queries"] is None
    assert (f"selection:{tried}", "selected", f"paper:{paper}") in graph.edges
    assert (f"selection:{skipped}", "selected", f"paper:{other}") in graph.edges


def test_what_no_record_states_is_inferred(steps, paper):
    """A run on the paper in the repository of the experiment, and the recommendation before it."""
    own, other = steps.interest(), steps.interest()
    recommended = steps.recommend(paper, own)
    steps.recommend(paper, other)
    steps.report(1, arxiv_id=paper, started_at="2026-01-05T09:30:00Z")
    experiment = steps.experiment(paper)
    steps.report(2, arxiv_id=paper, interest_id=own, candidates_considered=3, broad_pool_size=3)
    steps.report(3, arxiv_id=paper, repo=f"{steps.repo}-other")
    graph = steps.evidence(experiment)
    (run,) = [node["id"] for node in graph.of("run") if node["data"]["run_id"] == 2]
    assert inferred(graph) == {(run, "part_of", experiment): "same_paper_and_repository",
                               (f"selection:{run}", "selected", recommended): "recommended_before"}
    assert (graph.summary["runs"], graph.is_connected()) == (3, True)

    steps.api.put(f"/experiments/{experiment}", {"outcome": "ship"}, expect=200)
    steps.report(4, arxiv_id=paper)
    graph = steps.evidence(experiment)
    assert sum(kind == "part_of" for _, kind, _ in inferred(graph)) == 1
    prov = steps.api.get(f"/experiments/{experiment}/evidence?format=prov", expect=200).json()
    assert {row["expops:rule"] for row in prov["used"].values() if "expops:rule" in row} == {"same_paper_and_repository", "recommended_before"}


def test_two_experiments_on_a_paper_have_the_run_of_their_time(steps, paper):
    first = steps.experiment(paper)
    steps.report(1, arxiv_id=paper)
    steps.api.put(f"/experiments/{first}", {"status": "abandoned"}, expect=200)
    second = steps.experiment(paper)
    steps.report(2, arxiv_id=paper)

    def runs(experiment):
        graph = steps.evidence(experiment)
        return [graph.nodes[start]["data"]["run_id"] for start, kind, end in inferred(graph) if (kind, end) == ("part_of", experiment)]

    assert (runs(first), runs(second)) == ([1], [2])


def test_a_recommendation_of_another_paper_that_a_run_names_is_asked_for(steps, paper):
    other = new_paper()
    recommendation = steps.recommend(other)
    url = steps.open(1, paper, recommendation_id=recommendation, broad_pool_size=3)
    experiment = steps.experiment(paper, pr_url=url)
    graph = steps.evidence(experiment)
    assert graph.nodes[recommendation]["data"]["arxiv_id"] == other and f"paper:{other}" in graph.nodes
    assert graph.is_connected() and graph.missing == []


def test_what_a_run_opened_for_a_recommendation_is_asked_for(steps, paper):
    """It says for which recommendation it is, and not on which paper."""
    recommendation = steps.recommend(paper)
    steps.report(1, status="pr_opened", artifact_url=f"https://github.com/{steps.repo}/pull/1", recommendation_id=recommendation,
                 broad_pool_size=3, cost_usd=2)  # fmt: skip
    steps.report(2, arxiv_id=paper, cost_usd=1)
    experiment = steps.experiment(paper)
    graph = wait_for(lambda: (graph := steps.evidence(experiment)) and len(graph.of("run")) == 2 and graph, "svc-interests has heard of it")
    assert graph.is_connected() and (graph.summary["runs"], graph.summary["cost_usd"]) == (2, 3)


def runs_on(cluster, steps, paper, named):
    """Runs on the paper, the first one the oldest, that each name one of these recommendations."""
    moment = datetime.now(timezone.utc) - timedelta(days=3)
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.store_together(db, [{"account": steps.user.account, "repo": steps.repo, "run_id": number, "report": {
            "status": "skipped_old", "arxiv_id": paper, "recommendation_id": id, "broad_pool_size": 3,
            "started_at": (moment + timedelta(minutes=number)).isoformat()}} for number, id in enumerate(named, 1)])  # fmt: skip


def deleted(graph):
    return [node["id"] for node in graph.of("recommendation") if node["data"].get("deleted")]


def test_what_is_more_than_can_be_asked_for_is_not_said_to_be_deleted(cluster, steps, paper):
    interest = steps.interest()
    named = [steps.recommend(new_paper(), interest) for _ in range(101)]
    runs_on(cluster, steps, paper, named)
    graph = steps.evidence(steps.experiment(paper))
    shown = {node["id"] for node in graph.of("recommendation")}
    assert len(graph.of("run")) == 101 and len(shown) == 100 and shown < set(named)
    assert deleted(graph) == [] and graph.answer["truncated"] and graph.missing == []


def test_a_recommendation_that_many_runs_name_is_asked_for_once(cluster, steps, paper):
    one, other = str(uuid.uuid4()), str(uuid.uuid4())
    runs_on(cluster, steps, paper, [other] + [one] * 101)
    graph = steps.evidence(steps.experiment(paper))
    assert set(deleted(graph)) == {one, other} and not graph.answer["truncated"]


def test_ten_thousand_rejections(cluster, steps, paper):
    """Twenty runs that passed over five hundred papers each, ours among them."""
    moment = datetime.now(timezone.utc) - timedelta(days=3)
    reports = [{"account": steps.user.account, "repo": steps.repo, "run_id": number, "report": {
        "status": "skipped_old", "arxiv_id": new_paper(), "started_at": (moment + timedelta(minutes=number)).isoformat()},
        "detail": {"selection_rejected": [{"arxiv_id": paper, "reason": "too broad"}] + [
            {"arxiv_id": f"23{number:02}.{n:05}", "reason": "too broad for this repository", "score": n / 500} for n in range(499)]}}
        for number in range(1, 21)]  # fmt: skip
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.store_together(db, reports)
    url = steps.open(50, paper, selection_rejected=[{"arxiv_id": f"2401.{n:05}", "reason": "☃" * 2000} for n in range(600)])
    answer = steps.api.get(f"/experiments/{steps.experiment(paper, pr_url=url)}/evidence", expect=200)
    graph = Graph(answer.json())
    assert len(graph.nodes) <= 500 and len(graph.edges) <= 2000 and len(answer.content) <= 256 << 10 and graph.is_connected()
    assert (graph.summary["rejected"], graph.summary["runs"]) == (20, 1) and len(graph.of("run")) == 21
    (tried,) = [node["id"] for node in graph.of("run") if node["data"]["run_id"] == 50]
    rejected = [edge for (start, kind, _), edge in graph.edges.items() if (start, kind) == (f"selection:{tried}", "considered")]
    assert graph.nodes[f"selection:{tried}"]["data"]["more"] == 450 and sum(not edge["data"]["accepted"] for edge in rejected) == 50
    figures = steps.api.get("/fleet/outcomes/rejections", expect=200).json()
    assert sum(gate["rejections"] for gate in figures["gates"]) == 10000 + 500
    assert len(steps.outcomes(paper)["rejected"]) == 20


def test_results_that_somebody_typed_are_taken_as_they_are(steps, paper):
    """`ab_test_results` is free in its form, and so is `launch_context`."""
    ids = [str(uuid.uuid4()) for _ in range(4)]
    times = ["yesterday", "2026-02-31T09:30:00Z", "2026-01-31T09:30:00 Nowhere/Land", "infinity"]
    odd = [{"run_id": id.upper(), "finished_at": at, "status": {"a": 1}, "metrics": [1], "error": "x"} for id, at in zip(ids, times, strict=True)]
    typed = [7, None, "run", {"run_id": "../../" + "x" * 5000}, {"run_id": {}}, *odd, *[{"run_id": str(uuid.uuid4())} for _ in range(300)]]
    context = {"target_repo": "r" * 2048, "resource": {"arxiv_id": paper}}
    experiment = steps.experiment(paper, ab_test_results={"eval_runs": typed}, launch_context=context, tags=["t"], outcome="ship")
    graph = steps.evidence(experiment)
    assert graph.missing == [] and len(graph.of("eval_run")) == 200 and graph.is_connected()
    assert [graph.nodes[id]["data"]["finished_at"] for id in ids] == [None] * 4
    for form in ("markdown", "prov"):
        steps.api.get(f"/experiments/{experiment}/evidence?format={form}", expect=200)
    assert steps.outcomes(paper)["evaluations"]["runs"] == 200
    for other in ("none", {"a": 1}, 5, None):
        steps.api.put(f"/experiments/{experiment}", {"ab_test_results": {"eval_runs": other}}, expect=200)
        assert steps.evidence(experiment).summary["evaluations"] == 0


# ---- Replicas of an earlier version ----


@pytest.fixture
def beside(cluster, user):
    """beside(**urls): a reader of the evidence, by a replica that has other services beside it."""
    started = []

    def start(**urls):
        process = cluster.separate("svc-experiments", f"beside-{len(started)}", ROLES="http", WORKERS="1", **urls)
        process.start()
        started.append(process)
        process.wait_ready()

        def read(experiment):
            answer = plain_http.get(f"{process.url}/api/v1.0/experiments/{experiment}/evidence",
                                    auth=identity(cluster, "svc-experiments", account=user.account))  # fmt: skip
            return Graph(answer.json())

        return read

    yield start
    for process in started:
        process.stop()


def without_operation(request):
    problem = {"type": "about:blank", "title": "Not Found", "status": 404, "error": "not_found", "detail": "no such operation"}
    request.reply(404, json.dumps(problem), Content_Type="application/problem+json")


def test_a_service_without_the_operation_is_missing(beside, steps, paper):
    url = steps.open(1, paper)
    experiment = steps.experiment(paper, pr_url=url)
    stub = StubServer(without_operation)
    try:
        graph = beside(FLEET_URL=stub.url, INTERESTS_URL=stub.url)(experiment)
    finally:
        stub.close()
    assert {row["part"] for row in graph.missing} == {"recommendations", "fleet"} and graph.summary["runs"] is None
    assert set(graph.nodes) == {experiment, url, f"paper:{paper}"} and graph.is_connected()


def test_parts_of_an_earlier_version_are_taken(beside, steps, paper):
    """They have no labels, no `urls`, a member and a kind of edge of their own, and do not know the second round."""
    run, gone = str(uuid.uuid4()), str(uuid.uuid4())
    at = "2026-11-20T09:30:00.000Z"
    edges = [{"from": run, "to": f"paper:{paper}", "kind": "about"}, {"from": f"selection:{run}", "to": run, "kind": "part_of"},
             {"from": f"selection:{run}", "to": gone, "kind": "selected"}, {"from": run, "to": f"selection:{run}", "kind": "of old"}]  # fmt: skip
    fleet = {"nodes": [{"id": run, "kind": "run", "at": at, "url": None, "data": {"repo": steps.repo, "run_id": 4}},
                       {"id": f"selection:{run}", "kind": "selection", "at": at, "url": None, "data": {}}],
             "edges": [{**edge, "at": at, "basis": "stated", "data": None} for edge in edges], "truncated": False, "hidden": 0,
             "runs": 1, "runs_with_cost": 0, "cost_usd": None, "rejected": 0, "more": True}  # fmt: skip
    asked = []

    def answer(request):
        asked.append(json.loads(request.body))
        part = fleet if "runs" in asked[-1] else {"nodes": [], "edges": [], "truncated": False, "hidden": 0}
        request.reply(200, json.dumps(part), Content_Type="application/json")

    stub = StubServer(answer)
    try:
        graph = beside(FLEET_URL=stub.url, INTERESTS_URL=stub.url)(steps.experiment(paper))
    finally:
        stub.close()
    assert [question["recommendation_ids"] for question in asked if "recommendation_ids" in question] == [[gone]]
    assert graph.missing == [] and gone not in graph.nodes and graph.nodes[run]["label"] == f"{steps.repo} 4"
    assert (run, "of old", f"selection:{run}") in graph.edges and graph.summary["runs"] == 1


# ---- A second round that fails ----


def run_part(repo, paper, recommendation, number=4):
    """A part of svc-fleet with one run, which names a recommendation."""
    run, at = str(uuid.uuid4()), "2026-11-20T09:30:00.000Z"
    nodes = [{"id": run, "kind": "run", "data": {"repo": repo, "run_id": number}}, {"id": f"selection:{run}", "kind": "selection", "data": {}}]
    edges = [{"from": run, "to": f"paper:{paper}", "kind": "about"}, {"from": f"selection:{run}", "to": run, "kind": "part_of"},
             {"from": f"selection:{run}", "to": recommendation, "kind": "selected"}]  # fmt: skip
    return {"nodes": [{**node, "at": at, "url": None} for node in nodes],
            "edges": [{**edge, "at": at, "basis": "stated", "data": None} for edge in edges],
            "truncated": False, "hidden": 0, "runs": 1, "runs_with_cost": 0, "cost_usd": None, "rejected": 0}  # fmt: skip


class Parts:
    """svc-fleet and svc-interests as one stub: answers of each round; None: it does not answer before the stub closes, else a status."""

    def __init__(self, fleet, again=None, urls=(), recommendations=200):
        self.fleet, self.again, self.urls, self.recommendations = fleet, again or fleet, list(urls), recommendations
        self.asked, self.closed = [], threading.Event()
        self.stub = StubServer(self.answer)
        self.url = self.stub.url

    def of_fleet(self, question):
        return self.again if set(self.urls) & set(question["urls"]) else self.fleet

    def answer(self, request):
        question = json.loads(request.body)
        if "runs" in question:
            part, status = self.of_fleet(question), 200
        else:
            part = {"nodes": [], "edges": [], "urls": self.urls, "truncated": False, "hidden": 0}
            named = question.get("recommendation_ids", [])
            self.asked += named
            status = self.recommendations if named else 200
        if status is None:
            self.closed.wait()
        elif status != 200:
            part = {"type": "about:blank", "title": "Unavailable", "status": status, "error": "unavailable", "detail": "not now"}
        request.reply(status or 200, json.dumps(part), Content_Type="application/json" if status == 200 else "application/problem+json")

    def close(self):
        self.closed.set()
        self.stub.close()


@pytest.fixture
def parts():
    """parts(...): Parts that are closed at the end."""
    made = []

    def make(*args, **settings):
        made.append(Parts(*args, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(("status", "why"), [(503, "unavailable"), (None, "timeout")])
def test_what_could_not_be_asked_for_again_is_missing_and_not_deleted(beside, parts, steps, paper, status, why):
    there = str(uuid.uuid4())
    stub = parts(run_part(steps.repo, paper, there), recommendations=status)
    graph = beside(FLEET_URL=stub.url, INTERESTS_URL=stub.url)(steps.experiment(paper))
    assert there in stub.asked and there not in graph.nodes
    assert graph.missing == [{"part": "recommendations", "why": why}] and len(graph.of("run")) == 1


def test_only_what_was_asked_for_and_is_not_in_the_answer_is_deleted(beside, parts, steps, paper):
    """The second answer of svc-fleet has one more run, whose recommendation nobody is asked for any more."""
    asked, late = str(uuid.uuid4()), str(uuid.uuid4())
    first, second = run_part(steps.repo, paper, asked), run_part(steps.repo, paper, late, number=5)
    both = {**first, "nodes": first["nodes"] + second["nodes"], "edges": first["edges"] + second["edges"]}
    stub = parts(first, again=both, urls=[f"https://github.com/{steps.repo}/pull/5"])
    graph = beside(FLEET_URL=stub.url, INTERESTS_URL=stub.url)(steps.experiment(paper))
    assert len(graph.of("run")) == 2 and stub.asked == [asked] and deleted(graph) == [asked]
    assert graph.missing == [] and graph.answer["truncated"] and late not in graph.nodes


def test_links_that_are_more_than_can_be_asked_for_are_said(beside, parts, steps, paper):
    asked = str(uuid.uuid4())
    stub = parts(run_part(steps.repo, paper, asked), urls=[f"https://github.com/{steps.repo}/pull/{number}" for number in range(101)])
    graph = beside(FLEET_URL=stub.url, INTERESTS_URL=stub.url)(steps.experiment(paper))
    assert graph.answer["truncated"] and deleted(graph) == [asked]
