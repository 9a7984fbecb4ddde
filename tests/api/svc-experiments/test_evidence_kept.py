"""The evidence of an experiment as it was at a decision, and in forms for other programs and people."""

import uuid
from datetime import datetime, timedelta, timezone

from prov.model import ProvDocument

from lib.check import messages
from lib.scenario.evidence import Graph, Steps, digest_of
from lib.tables import experiments as experiments_tables
from lib.wait import wait_for


def kept(steps, experiment):
    """The evidence at the newest decision, once it was kept."""
    answer = steps.api.get(f"/experiments/{experiment}/evidence", params={"at": "decision"})
    return Graph(answer.json()) if answer.status_code == 200 else None


def wait_kept(steps, experiment, is_kept=lambda graph: True):
    return wait_for(lambda: (graph := kept(steps, experiment)) and is_kept(graph) and graph, "the evidence is kept")


def test_the_graph_is_kept_at_a_decision(cluster, steps, paper):
    url = steps.open(1, paper, cost_usd=0.5)
    experiment = steps.experiment(paper, pr_url=url)
    path = f"/experiments/{experiment}/evidence?at=decision"
    steps.api.problem("GET", path, 404, "not_found")
    steps.decide(experiment)
    graph = wait_kept(steps, experiment)
    assert graph.answer["digest"] == digest_of(graph.answer) and graph.missing == [] and graph.is_connected()
    assert graph.answer["snapshot"]["trigger"] == "outcome" and graph.summary["runs"] == 1
    assert graph.one("experiment")["data"]["outcome"] == "ship" and graph.one("decision")["data"]["decision"] == "It ranks better."

    steps.open(2, paper)
    steps.api.put(f"/experiments/{experiment}", {"name": "Another name"}, expect=200)
    assert kept(steps, experiment).answer == graph.answer
    live = steps.evidence(experiment)
    assert live.summary["runs"] == 2 and live.answer["digest"] != graph.answer["digest"]

    (told,) = [body for body in messages.told(cluster, steps.user.account, "experiment.decided") if body["experiment_id"] == experiment]
    assert (told["digest"], told["outcome"], told["status"]) == (graph.answer["digest"], "ship", "shipped")
    assert told["decided_at"] == graph.answer["snapshot"]["at"] and told["url"] == f"/console/experiments/{experiment}"

    (entry,) = wait_for(lambda: steps.api.get("/account/audit?action=experiment.evidence_kept", expect=200).json(), "the audit log has it")
    assert entry["actor"]["kind"] == "service" and (entry["target"]["kind"], entry["target"]["id"]) == ("experiment", experiment)
    assert entry["detail"]["changed"] == [{"field": "digest", "from": None, "to": graph.answer["digest"]}]


def test_each_change_of_a_decision_is_kept_once(db, steps):
    made = steps.api.post("/experiments", {"name": "typed", "status": "abandoned"}, expect=201).json()["id"]
    assert wait_kept(steps, made).answer["snapshot"]["trigger"] == "status"
    steps.api.put(f"/experiments/{made}", {"outcome": "iterate"}, expect=200)
    graph = wait_kept(steps, made, lambda graph: graph.answer["snapshot"]["trigger"] == "outcome")
    steps.api.put(f"/experiments/{made}", {"decision": "Once more.", "tags": ["late"]}, expect=200)
    steps.api.put(f"/experiments/{made}", {"status": "running", "outcome": None}, expect=200)
    assert kept(steps, made).answer == graph.answer
    assert experiments_tables.count_kept(db, made) == 2


def test_the_newest_twenty_are_kept(db, steps):
    made = steps.api.post("/experiments", {"name": "typed"}, expect=201).json()["id"]
    for number in range(22):
        steps.api.put(f"/experiments/{made}", {"outcome": ("ship", "iterate")[number % 2]}, expect=200)
    last = steps.api.get(f"/experiments/{made}", expect=200).json()["updated_at"]
    wait_kept(steps, made, lambda graph: graph.answer["snapshot"]["at"] == last)
    wait_for(lambda: experiments_tables.waiting_to_keep(db, made) == 0, "all are kept")
    assert experiments_tables.count_kept(db, made) == 20
    steps.api.delete(f"/experiments/{made}", expect=200)
    assert experiments_tables.count_kept(db, made) == 0


def test_a_service_that_is_away_is_waited_for(disturbed, db, steps, paper):
    """What is told then is what was decided, also when the decision has changed meanwhile."""
    steps.open(1, paper)
    experiment = steps.experiment(paper)
    try:
        disturbed.stop("svc-fleet")
        steps.api.put(f"/experiments/{experiment}", {"outcome": "ship", "decision": "It works."}, expect=200)
        wait_for(lambda: experiments_tables.waiting_to_keep(db, experiment, interrupted=True), "an attempt was interrupted")
        assert kept(steps, experiment) is None
        steps.api.put(f"/experiments/{experiment}", {"outcome": None, "decision": "It does not.", "status": "iterating"}, expect=200)
    finally:
        disturbed.recover()
    experiments_tables.keep_soon(db, experiment)
    graph = wait_kept(steps, experiment)
    assert graph.missing == [] and graph.summary["runs"] == 1
    (told,) = [body for body in messages.told(disturbed, steps.user.account, "experiment.decided") if body["experiment_id"] == experiment]
    assert (told["outcome"], told["decision"], told["status"]) == ("ship", "It works.", "running")


def test_after_an_hour_what_is_there_is_kept(disturbed, steps, paper):
    steps.open(1, paper)
    experiment = steps.experiment(paper)
    try:
        disturbed.stop("svc-fleet")
        with disturbed.postgres.connect("experiments") as db:
            experiments_tables.let_keep(db, steps.user.account, experiment, datetime.now(timezone.utc) - timedelta(minutes=61))
        graph = wait_kept(steps, experiment)
    finally:
        disturbed.recover()
    assert [row["part"] for row in graph.missing] == ["fleet"] and graph.summary["runs"] is None


def test_what_was_kept_is_shown_as_a_whole_or_not_at_all(steps, paper, other_user, cluster):
    experiment = steps.experiment(paper)
    steps.decide(experiment)
    wait_kept(steps, experiment)
    path = f"/experiments/{experiment}/evidence?at=decision"
    scopes = ["experiments:read", "recommendations:read", "fleet:read", "eval:read"]
    for missing in scopes[1:]:
        problem = steps.key([scope for scope in scopes if scope != missing]).problem("GET", path, 403, "insufficient_scope")
        assert missing in problem["detail"]
    steps.key([*scopes, "search:read"], repo=steps.repo).problem("GET", path, 403, "forbidden")
    Steps(cluster, other_user, [paper]).api.problem("GET", path, 404, "not_found")
    steps.api.problem("GET", f"/experiments/{uuid.uuid4()}/evidence?at=decision", 404, "not_found")
    steps.api.problem("GET", f"/experiments/{experiment}/evidence?at=now&format=pdf", 400, "invalid_request")


# ---- Forms ----


def whole_story(steps, paper):
    interest = steps.interest()
    recommendation = steps.recommend(paper, interest)
    url = steps.open(7, paper, recommendation_id=recommendation, agent="agent_one", model="m-1", cost_usd=1.5, broad_pool_size=40,
                     selection_rejected=[{"arxiv_id": "2401.31337", "reason": "see `rm -rf` @everyone\n# x", "gate": "risk"}])  # fmt: skip
    steps.settle(7, "merged")
    runs = [{"run_id": str(uuid.uuid4()), "status": "succeeded", "metrics": {"ndcg": 0.4}}]
    experiment = steps.experiment(paper, pr_url=url, ab_test_results={"eval_runs": runs})
    steps.decide(experiment)
    return experiment, recommendation, url, runs[0]["run_id"]


def test_a_page_for_people(steps, paper):
    experiment, _, url, _ = whole_story(steps, paper)
    answer = steps.api.get(f"/experiments/{experiment}/evidence?format=markdown", expect=200)
    graph = steps.evidence(experiment)
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    lines = answer.text.splitlines()
    assert lines[0].startswith("# Evidence: `E ") and " ".join(graph.summary["sentences"]) in lines
    parts = [line for line in lines if line.startswith("## ")]
    assert parts == ["## Way", "## Cost", "## Passed over", "## Result", "## Decision", "## Record"]
    assert "1.50 USD, known of 1 of 1 runs." in lines
    (passed,) = [line for line in lines if "2401.31337" in line]
    assert passed.endswith("`2401.31337`: `risk`, `` see `rm -rf` @everyone # x ``")
    assert any(line.startswith("- ") and "Paper: " in line and f"`Paper {paper}`" in line for line in lines)
    assert any(url in line and "`merged`" in line for line in lines)
    assert any("Evaluation: `succeeded`" in line for line in lines) and any(line.endswith(" Selection") for line in lines)
    assert "> It ranks better." in lines and f"- SHA-256 of the graph: `{graph.answer['digest']}`" in lines


def test_what_is_quoted_on_a_page_does_nothing_at_the_code_host(steps, paper):
    experiment = steps.experiment(paper)
    steps.api.put(f"/experiments/{experiment}", {"outcome": "ship", "decision": "Closes #12 for @acme/all, <b>![x](y)"}, expect=200)
    page = steps.api.get(f"/experiments/{experiment}/evidence?format=markdown", expect=200).text
    assert "> Closes #\u200b12 for @\u200bacme/all, <\u200bb>!\u200b[x]\u200b(y)" in page.splitlines()


def test_provenance_is_read_by_others_and_written_again(steps, paper):
    experiment, recommendation, url, run = whole_story(steps, paper)
    answer = steps.api.get(f"/experiments/{experiment}/evidence?format=prov", expect=200)
    document = ProvDocument.deserialize(content=answer.text, format="json")
    again = ProvDocument.deserialize(content=document.serialize(format="json"), format="json")
    assert document == again

    graph = steps.evidence(experiment)
    told = answer.json()
    assert len(told["entity"]) + len(told["activity"]) == len(graph.nodes)
    edges = sum(len(told[name]) for name in ("used", "wasGeneratedBy", "wasDerivedFrom", "wasInformedBy") if name in told)
    assert edges == len(graph.edges)
    assert told["entity"][f"id:{experiment}"]["expops:digest"] == graph.answer["digest"]
    agent = next(node for node in graph.of("run"))
    activity = told["activity"][f"id:{agent['id']}"]
    assert activity["expops:cost_usd"] == {"$": "1.500000", "type": "xsd:decimal"} and activity["prov:startTime"] == agent["at"]
    (sources,) = [row for row in told["wasDerivedFrom"].values() if row["prov:generatedEntity"] == f"id:{recommendation}"]
    assert sources["prov:type"] == {"$": "prov:PrimarySource", "type": "prov:QUALIFIED_NAME"}
    made = {(row["prov:entity"], row["prov:activity"]) for row in told["wasGeneratedBy"].values()}
    assert ("id:" + url.replace(":", "%3A").replace("/", "%2F"), f"id:{agent['id']}") in made
    rejected = [row for row in told["used"].values() if row.get("expops:accepted") is False]
    assert [row["expops:gate"] for row in rejected] == ["risk"]
    kinds = {row["prov:type"]["$"] for row in told["agent"].values()}
    assert kinds == {"prov:Organization", "prov:SoftwareAgent", "prov:Person"} and f"id:{run}" in told["activity"]


def qualified(id):
    return "id:" + id.replace(":", "%3A").replace("/", "%2F")


def test_provenance_ends_a_pull_request_that_was_reverted(steps, paper):
    url = steps.open(7, paper)
    steps.settle(7, "merged", days=3)
    steps.revert(7, by=900, days=2)
    steps.revert(900, by=901, days=1)
    experiment = steps.experiment(paper, pr_url=url)
    merged, reverting, again = (qualified(url.replace("/7", f"/{number}")) for number in (7, 900, 901))
    activity = reverting.replace("id:", "id:revert%3A")
    at = steps.evidence(experiment).nodes[url]["data"]["reverted_at"]
    answer = steps.api.get(f"/experiments/{experiment}/evidence?format=prov", expect=200)
    told = answer.json()
    assert list(told["wasInvalidatedBy"].values()) == [{"prov:entity": merged, "prov:activity": activity, "prov:time": at}]
    reverted = told["activity"][activity]
    assert (reverted["prov:type"]["$"], reverted["prov:startTime"], reverted["prov:endTime"]) == ("expops:revert", at, at)
    assert (activity, reverting) in {(row["prov:activity"], row["prov:entity"]) for row in told["used"].values()}
    derived = {(row["prov:generatedEntity"], row["prov:usedEntity"]) for row in told["wasDerivedFrom"].values()}
    assert (again, merged) in derived and not {(merged, reverting), (merged, again)} & derived
    document = ProvDocument.deserialize(content=answer.text, format="json")
    assert document == ProvDocument.deserialize(content=document.serialize(format="json"), format="json")


def test_a_kind_of_node_that_this_version_does_not_know_is_an_entity(db, steps):
    made = steps.api.post("/experiments", {"name": "typed", "status": "abandoned"}, expect=201).json()["id"]
    decision = wait_kept(steps, made).one("decision")["id"]
    experiments_tables.rename_kept_kind(db, made, "decision", "verdict")
    told = steps.api.get(f"/experiments/{made}/evidence?at=decision&format=prov", expect=200).json()
    assert told["entity"][qualified(decision)]["prov:type"]["$"] == "expops:verdict"


def test_what_was_kept_has_the_same_forms(steps, paper):
    experiment, *_ = whole_story(steps, paper)
    graph = wait_kept(steps, experiment, lambda graph: graph.one("decision")["data"]["decision"])
    page = steps.api.get(f"/experiments/{experiment}/evidence?at=decision&format=markdown", expect=200).text
    told = steps.api.get(f"/experiments/{experiment}/evidence?at=decision&format=prov", expect=200).json()
    assert graph.answer["digest"] in page and told["entity"][f"id:{experiment}"]["expops:digest"] == graph.answer["digest"]
