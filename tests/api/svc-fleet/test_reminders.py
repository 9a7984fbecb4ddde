"""Reminders of experiments: items of the inbox that come by time and go with their reason."""

import pytest

from lib.tables import experiments as experiments_tables
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

PLAN = {"metrics": [{"key": "conversion", "kind": "proportion"}]}
SUMS = {"metrics": [{"key": "conversion", "arms": [{"arm": "control", "n": 100, "successes": 50}, {"arm": "treatment", "n": 100, "successes": 51}]}]}


@pytest.fixture
def experiment(api):
    """experiment(**members): a new one."""
    return lambda **members: api.post("/experiments", {"name": "Attention", **members}, expect=201).json()


@pytest.fixture
def reminded(api, db):
    """reminded(experiment, *kinds): wait until these are its reminders, let them be due, and return their items by kind."""

    def wait(experiment, *kinds):
        wait_for(lambda: fleet_tables.let_reminders_be_due(db, experiment["id"], kinds), f"reminders {kinds}")
        items = [i for i in api.get("/fleet/agents/inbox?limit=100", expect=200).json() if experiment["id"] in (i["href"] or "")]
        return {item["kind"]: item for item in items}

    return wait


def test_an_experiment_without_a_result(api, experiment, reminded):
    made = experiment(status="running")
    items = reminded(made, "experiment_overdue")
    assert items["experiment_overdue"]["title"] == "Attention has run for its planned time without a result"
    assert items["experiment_overdue"]["href"] == f"/console/experiments/{made['id']}"
    api.put(f"/experiments/{made['id']}", {"status": "analyzing"}, expect=200)
    assert reminded(made) == {}


def test_a_decision_without_a_result(api, db, experiment, reminded):
    unreminded = [experiment(outcome="abandon"), experiment(outcome="ship", observed_delta=0.1), experiment(outcome="ship", ab_test_results={"n": 1})]
    made = experiment(outcome="iterate", ab_test_config=PLAN)
    assert set(reminded(made, "experiment_decided_without_data")) == {"experiment_decided_without_data"}
    api.post(f"/experiments/{made['id']}/results", SUMS, expect=201)
    assert reminded(made) == {}
    assert [fleet_tables.days_until_reminder(db, e["id"]) for e in unreminded] == [None] * 3  # events of an account are in order


def test_what_is_shipped_and_not_merged(api, experiment, reminded):
    made = experiment(status="shipped", observed_delta=0.1, pr_url="https://github.com/acme/ranker/pull/1", pr_status="open")
    assert set(reminded(made, "experiment_shipped_without_merge")) == {"experiment_shipped_without_merge"}
    api.put(f"/experiments/{made['id']}", {"pr_status": "merged"}, expect=200)
    assert reminded(made) == {}


MERGED = ("merged", "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z")


@pytest.fixture
def repo(user):
    """A repository of which the code host has told nothing."""
    return f"acme/r{user.account[-12:]}"


@pytest.fixture
def pull(repo):
    return f"https://github.com/{repo}/pull/1"


@pytest.fixture
def opened(agent, repo, pull):
    """opened(): a run reports that it opened the pull request."""
    key = agent(repo)
    return lambda: key.post("/fleet/runs", {"run_id": 1, "repo": repo, "status": "pr_opened", "artifact_url": pull}, expect=201)


@pytest.fixture
def unmerged(experiment, reminded):
    """unmerged(url): an experiment that was shipped by a pull request of somebody, of which it is reminded."""

    def make(url):
        made = experiment(status="shipped", observed_delta=0.1, pr_url=url)
        assert set(reminded(made, "experiment_shipped_without_merge")) == {"experiment_shipped_without_merge"}
        return made

    return make


def inbox_has(api, text):
    return text in str(api.get("/fleet/agents/inbox?limit=100", expect=200).json())


@pytest.mark.parametrize("end", ["", "/files"])
def test_a_merge_that_the_code_host_tells_of_takes_the_reminder_away(api, unmerged, tell, repo, pull, end):
    made = unmerged(pull + end)
    tell(repo, 1, "closed", *MERGED[1:], kind="issue")
    tell(repo, 2, *MERGED)
    assert inbox_has(api, made["id"])
    tell(repo, 1, *MERGED)
    assert not inbox_has(api, made["id"])


def test_no_reminder_comes_after_the_merge(api, db, user, experiment, tell, repo, pull):
    tell(repo, 1, *MERGED)
    made = experiment(status="shipped", observed_delta=0.1, pr_url=pull)
    wait_for(lambda: fleet_tables.let_reminders_be_due(db, made["id"], ("experiment_shipped_without_merge",)))
    fleet_tables.look_at_inbox(db, user.account)
    wait_for(lambda: fleet_tables.has_looked(db, user.account))
    assert not inbox_has(api, made["id"]) and fleet_tables.told_items(db, user.account) == []


def test_the_merge_of_a_run_takes_the_reminder_away(api, db, unmerged, opened, tell, repo, pull):
    """Also when the repository is no more the account's, and so the code host's word of it."""
    made = unmerged(pull)
    opened()
    assert inbox_has(api, made["id"])
    tell(repo, 1, *MERGED)
    fleet_tables.disown_repository(db, repo)
    assert not inbox_has(api, made["id"])


def test_a_merge_in_a_repository_of_others_tells_nothing(api, db, other_user, unmerged, repo, pull):
    made = unmerged(pull)
    fleet_tables.own_repository(db, other_user.account, repo)
    fleet_tables.tell_item(db, repo, "pull_request", 1, *MERGED)
    assert inbox_has(api, made["id"])


@pytest.mark.parametrize("status", ["Merged", "closed"])
def test_a_pull_request_whose_end_an_experiment_knows_does_not_wait(api, experiment, opened, tell, repo, pull, status):
    """The code host's word counts before that of an experiment, which somebody may have typed."""
    opened()
    made = experiment(pr_url=pull, pr_status="open")
    assert inbox_has(api, "pull_request_waiting")
    api.put(f"/experiments/{made['id']}", {"pr_status": status}, expect=200)
    wait_for(lambda: not inbox_has(api, "pull_request_waiting"))
    tell(repo, 1, "open", "2026-01-10T09:00:00Z", None)
    assert inbox_has(api, "pull_request_waiting")


@pytest.mark.parametrize("members", [{"status": "running"}, {"outcome": "ship"}, {"status": "shipped"}, {"status": "shipped", "outcome": "iterate"}])
@pytest.mark.parametrize("is_old", [False, True])
def test_a_reminder_keeps_its_time_in_other_changes(api, cluster, db, experiment, members, is_old):
    """Another time is another item, which comes again and is told again. `is_old`: made by a version that noted no times."""
    made = experiment(**members)
    if is_old:
        with cluster.postgres.connect("experiments") as tables:
            experiments_tables.forget_times(tables, made["id"])
    times = []
    for name in ("First", "Second", "Third"):
        api.put(f"/experiments/{made['id']}", {"name": name, "tags": [name]}, expect=200)
        times.append(wait_for(lambda: {kind: due for kind, (told, due) in fleet_tables.reminders(db, made["id"]).items() if told == name}))
    assert times[1:] == times[:1] * 2


def test_what_is_shipped_with_nothing_to_show(api, experiment, reminded):
    """Any status may follow any other, and every reason is an item of its own."""
    made = experiment(status="draft")
    api.put(f"/experiments/{made['id']}", {"status": "shipped"}, expect=200)
    items = reminded(made, "experiment_decided_without_data", "experiment_shipped_without_merge")
    assert {kind: item["href"] for kind, item in items.items()} == dict.fromkeys(
        ("experiment_decided_without_data", "experiment_shipped_without_merge"), f"/console/experiments/{made['id']}")
    api.put(f"/experiments/{made['id']}", {"status": "draft"}, expect=200)
    assert reminded(made) == {}


def test_a_reminder_goes_with_its_experiment(api, experiment, reminded):
    made = experiment(status="running")
    reminded(made, "experiment_overdue")
    api.delete(f"/experiments/{made['id']}", expect=200)
    assert reminded(made) == {}


@pytest.mark.parametrize("planned", [1, None])
def test_the_planned_time_counts_from_the_newest_result(api, db, experiment, planned):
    plan = {**PLAN, **({"planned_days": planned} if planned else {})}
    made = experiment(status="running", ab_test_config=plan)
    days = planned or 14
    wait_for(lambda: fleet_tables.days_until_reminder(db, made["id"]) == pytest.approx(days, abs=0.1))
    api.post(f"/experiments/{made['id']}/results", SUMS, expect=201)
    api.put(f"/experiments/{made['id']}", {"tags": ["x"]}, expect=200)
    wait_for(lambda: fleet_tables.days_until_reminder(db, made["id"]) == pytest.approx(days, abs=0.1))
    assert api.post("/experiments", {"name": "x", "ab_test_config": {"planned_days": 366}}, expect=400)


def test_a_due_reminder_is_announced_once(api, db, user, experiment, reminded):
    made = experiment(status="running")
    reminded(made, "experiment_overdue")
    fleet_tables.look_at_inbox(db, user.account)
    assert len(wait_for(lambda: fleet_tables.told_items(db, user.account))) == 1


def test_others_see_none(other_user, experiment, reminded):
    made = experiment(status="running")
    reminded(made, "experiment_overdue")
    assert [i for i in other_user.api.get("/fleet/agents/inbox", expect=200).json() if made["id"] in (i["href"] or "")] == []
