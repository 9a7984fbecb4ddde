"""Events that svc-interests receives: changed experiments, and deleted accounts."""

import uuid

import pytest

from lib.scenario.deletion import wait_deletion
from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

STREAM = "events.experiments"


def experiment(**members):
    return {
        "id": str(uuid.uuid4()),
        "version": 1,
        "name": "An experiment",
        "status": "running",
        "outcome": None,
        "decision": None,
        "observed_delta": None,
        "delta_confidence": None,
        "target_metric": None,
        "project_id": None,
        "source_type": "manual",
        "source_ref": None,
        "arxiv_ids": [],
        "pr_url": None,
        "pr_status": None,
        **members,
    }


@pytest.fixture
def interest(interests):
    made = interests.ready(project_id=str(uuid.uuid4()))
    interests.refresh(made)
    return made


def wait_history(interests, interest, history):
    wait_for(lambda: interests.get(interest)["experiment_history"] == history, f"history is {history!r}")


def test_experiment_of_the_project_is_in_the_history(interests, emit, account, interest):
    data = experiment(project_id=interest["project_id"], name="Tiles\n in the encoder")
    emit(STREAM, "experiment.created", account, data)
    wait_history(interests, interest, "- Tiles in the encoder (running)")
    data.update(
        version=2, status="shipped", outcome="ship", target_metric="step_time", observed_delta=-12.5, decision="It pays."
    )
    emit(STREAM, "experiment.updated", account, data)
    wait_history(interests, interest, "- Tiles in the encoder (shipped, ship, step_time -12.5): It pays.")
    data.update(version=3, observed_delta=0.1 + 0.2 - 0.29999)  # 1.0000000000065512e-05
    emit(STREAM, "experiment.updated", account, data)
    wait_history(interests, interest, "- Tiles in the encoder (shipped, ship, step_time 0.00001): It pays.")
    emit(STREAM, "experiment.deleted", account, data)
    wait_history(interests, interest, "")


def test_experiment_about_a_recommended_paper_is_in_the_history(interests, emit, account, interest):
    paper, other = (one["resource_id"] for one in interests.recommended(interest)[:2])
    data = experiment(name="By paper", arxiv_ids=[paper, other, "9912.00001"])
    emit(STREAM, "experiment.created", account, data)
    wait_history(interests, interest, "- By paper (running)")
    emit(STREAM, "experiment.updated", account, {**data, "version": 2, "name": "By the other", "arxiv_ids": [other]})
    wait_history(interests, interest, "- By the other (running)")
    emit(STREAM, "experiment.updated", account, {**data, "version": 3, "arxiv_ids": ["9912.00001"]})
    wait_history(interests, interest, "")


def test_history_has_linked_experiments_newest_first(interests, emit, account, interest):
    emit(STREAM, "experiment.created", account, experiment(name="Elsewhere", project_id=str(uuid.uuid4())))
    emit(STREAM, "experiment.created", account, experiment(name="Unknown paper", arxiv_ids=["9912.00001"]))
    emit(STREAM, "experiment.created", str(uuid.uuid4()), experiment(name="Theirs", project_id=interest["project_id"]))
    for name in ("first", "second"):
        emit(STREAM, "experiment.created", account, experiment(name=name, project_id=interest["project_id"]))
        wait_for(lambda: name in interests.get(interest)["experiment_history"])
    wait_history(interests, interest, "- second (running)\n- first (running)")


def test_older_and_repeated_events_change_nothing(interests, emit, account, interest):
    data = experiment(project_id=interest["project_id"], name="new", version=5)
    event = emit(STREAM, "experiment.updated", account, data)
    wait_history(interests, interest, "- new (running)")
    emit(STREAM, "experiment.created", account, {**data, "name": "old", "version": 1})
    emit(STREAM, "experiment.updated", account, data, event)
    emit(STREAM, "experiment.deleted", account, data)
    wait_history(interests, interest, "")
    emit(STREAM, "experiment.updated", account, {**data, "version": 4})
    last = experiment(project_id=interest["project_id"], name="last")
    emit(STREAM, "experiment.created", account, last)
    wait_history(interests, interest, "- last (running)")


def test_an_event_of_wrong_data_delays_no_other(cluster, interests, emit, account, interest):
    poison = emit(STREAM, "experiment.created", str(uuid.uuid4()), experiment(version="not a number"))
    data = experiment(project_id=interest["project_id"], name="After it")
    emit(STREAM, "experiment.created", account, data)
    wait_history(interests, interest, "- After it (running)")
    dead = [fields["id"] for _, fields in cluster.redis.client().xrange("events.dead.svc-interests")]
    assert dead.count(poison) == 1


def test_arxiv_ids_of_events_are_canonical_and_bounded(interests, emit, account, db, interest):
    paper = interests.recommended(interest)[0]["resource_id"]
    data = experiment(arxiv_ids=["x" * 100_000, f"arXiv:{paper}v7", "https://arxiv.org/abs/math.GT/0309136"])
    emit(STREAM, "experiment.created", account, data)
    wait_history(interests, interest, "- An experiment (running)")
    assert interests_tables.experiment_papers(db, data["id"]) == [paper, "math/0309136"]


@pytest.mark.parametrize(
    ("members", "positives"),
    [
        ({"pr_status": "merged"}, 1),
        ({"status": "shipped"}, 1),
        ({"outcome": "ship"}, 1),
        ({"pr_status": "closed"}, 0),
        ({"status": "abandoned"}, 0),
        ({"outcome": "abandon"}, 0),
    ],
)
def test_outcomes_are_feedback(interests, emit, account, interest, members, positives):
    paper = interests.recommended(interest)[0]["resource_id"]
    emit(STREAM, "experiment.updated", account, experiment(arxiv_ids=[paper], **members))
    wait_for(lambda: interests.get(interest)["experiment_history"])
    result = interests.refit(interest)["result"]
    assert (result["examples"], result["positives"]) == (1, positives)


def test_outcomes_of_papers_never_recommended_are_feedback(interests, emit, account, papers, interest):
    data = experiment(project_id=interest["project_id"], arxiv_ids=[*list(papers)[:4], "9912.00002"], status="shipped")
    emit(STREAM, "experiment.updated", account, data)
    wait_for(lambda: interests.get(interest)["experiment_history"])
    result = interests.refit(interest)["result"]
    assert (result["examples"], result["positives"], result["model_version"]) == (4, 4, 1)


def test_deleting_an_account_deletes_all_its_rows(cluster, interests, emit, api, account, db, interest):
    interests.feedback(interests.recommended(interest)[0], "like")
    emit(STREAM, "experiment.created", account, experiment(project_id=interest["project_id"]))
    wait_for(lambda: interests.get(interest)["experiment_history"])
    api.post("/account/delete", {"confirm": True}, expect=200)

    def left():
        tables = ("interest", "recommendation", "experiment", "experiment_paper", "task", "idempotency")
        return common.tables_with(db, tables, account_id=account)

    wait_for(lambda: left() == [], "no row of the account is left")
    late = experiment(name="late")
    emit("events.account", "account.deleted", account, {})
    emit(STREAM, "experiment.created", account, late)
    other = experiment(name="of somebody else")
    emit(STREAM, "experiment.created", str(uuid.uuid4()), other)
    wait_for(lambda: common.tables_with(db, ["experiment"], id=other["id"]), "the other event is handled")
    assert left() == []


def test_deleted_account_cannot_create_rows(api, account, db, interest):
    common.note_deleted(db, account)
    api.problem("POST", "/interests", 400, "invalid_request", {"name": "late", "context": "late"})
    api.problem("POST", "/papers/recommended/refresh", 400, "invalid_request", {})
    history = interest["experiment_history_id"]
    api.problem("POST", f"/experiment-histories/{history}/refit-preference-model", 400, "invalid_request")


def test_deleting_an_account_keeps_other_accounts(interests, other_interests, other_user, api, db):
    theirs = other_interests.ready()
    mine = interests.ready()
    api.post("/account/delete", {"confirm": True}, expect=200)
    wait_for(lambda: not common.tables_with(db, ["interest"], id=mine["id"]), "my interest is gone")
    assert other_interests.get(theirs)["pool_size"] > 0


def test_experiments_created_by_the_api_are_in_the_history(api, interests):
    project = api.post("/projects", {"name": "Ranking"}, expect=201).json()
    made = interests.ready(project_id=project["id"])
    interests.refresh(made)
    paper = interests.recommended(made)[0]["resource_id"]
    first = api.post("/experiments", {"name": "By project", "project_id": project["id"]}, expect=201).json()
    wait_history(interests, made, "- By project (draft)")
    body = {"name": "By paper", "source_type": "arxiv_paper", "source_ref": paper, "status": "shipped", "decision": "Keep."}
    second = api.post("/experiments", body, expect=201).json()
    wait_history(interests, made, "- By paper (shipped): Keep.\n- By project (draft)")
    api.put(f"/experiments/{first['id']}", {"status": "abandoned", "outcome": "abandon"}, expect=200)
    wait_history(interests, made, "- By project (abandoned, abandon)\n- By paper (shipped): Keep.")
    result = interests.refit(made)["result"]
    assert (result["examples"], result["positives"]) == (1, 1)
    api.delete(f"/experiments/{second['id']}", expect=200)
    wait_history(interests, made, "- By project (abandoned, abandon)")


@pytest.mark.parametrize("table", ["interest", "experiment"])
def test_row_inserted_while_its_account_is_deleted_is_deleted_too(cluster, api, account, db, table):
    with cluster.postgres.connect("interests") as holder:
        holder.autocommit = False
        interests_tables.insert_row(holder, table, account)
        api.post("/account/delete", {"confirm": True}, expect=200)
        wait_deletion(db, account)
        holder.commit()
    wait_for(lambda: common.tables_with(db, [table], account_id=account) == [], f"{table} has no row of the account")


def test_an_event_from_before_a_proposal_was_closed_does_not_open_it_again(db, interests, emit):
    repo, other = (f"acme-{uuid.uuid4().hex[:8]}/ranker" for _ in range(2))
    followed, last = interests.ready()["id"], interests.ready()["id"]
    interests_tables.add_agent(db, followed, repo, pr_number=7)
    interests_tables.add_agent(db, last, other, pr_number=7)

    def tell(name, state, at):
        emit("events.code_host", "pull_request", "", {"repo": name, "number": 7, "state": state, "merged": False, "occurred_at": at})

    def closed_at(interest):
        return interests_tables.proposal_closed_at(db, interest)

    tell(repo, "closed", "2026-01-03T00:00:00Z")
    tell(repo, "open", "2026-01-02T00:00:00Z")
    tell(other, "closed", "2026-01-03T00:00:00Z")
    wait_for(lambda: closed_at(last), "the last event is applied")
    assert closed_at(followed)
    tell(repo, "open", "2026-01-04T00:00:00Z")
    wait_for(lambda: not closed_at(followed), "it is open again")
    for name in (repo, other):
        interests_tables.drop_agents(db, name)
