"""Merged pull requests that are reverted, and merged again: told by the code host's webhooks in any order."""

import itertools
import secrets
from datetime import date, timedelta

import pytest

from lib.check import messages
from lib.outside.webhooks import Hook
from lib.tables import common
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for


class Repository:
    """A repository of the account at the code host, and what its webhooks tell."""

    def __init__(self, cluster, user, agent, install):
        self.cluster, self.user, self.api, self.hook = cluster, user, user.api, Hook(cluster)
        self.name = f"acme/{secrets.token_hex(4)}"
        self.paper = f"2{secrets.randbelow(100):02}{1 + secrets.randbelow(9)}.{secrets.randbelow(100000):05}"
        install(self.name)
        self.key = agent(self.name, of=user.api)
        self.of = {"full_name": self.name, "default_branch": "main"}

    def address(self, number):
        return f"https://github.com/{self.name}/pull/{number}"

    def report(self, number=5):
        report = {"run_id": number, "repo": self.name, "status": "pr_opened", "arxiv_id": self.paper, "artifact_url": self.address(number)}
        self.key.post("/fleet/runs", report, expect=201)

    def merge(self, number, body=None, commit=None, day=1, base="main"):
        pull = {"number": number, "html_url": self.address(number), "state": "closed", "merged": True, "body": body, "merge_commit_sha": commit,
                "base": {"ref": base}, "head": {"ref": "topic"}, "updated_at": on(day) + "Z"}  # fmt: skip
        self.hook.deliver("pull_request", {"action": "closed", "repository": self.of, "pull_request": pull})

    def push(self, commit, message, branch="main"):
        head = {"id": commit, "message": message}
        self.hook.deliver("push", {"ref": f"refs/heads/{branch}", "after": commit, "head_commit": head, "repository": self.of})

    def outcomes(self):
        return self.api.get(f"/search/assets/{self.paper}/outcomes", expect=200).json()

    def found(self):
        """The pull requests of the paper, by number, with what became of each."""
        return {row["number"]: row for row in self.outcomes()["pull_requests"]}

    def wait(self, **members):
        """Wait until the pull request of the run is so."""
        return wait_for(lambda: (row := self.found().get(5)) and members.items() <= row.items() and row, f"it is {members}")


def on(day):
    """Nine o'clock of a day: the first was three weeks ago."""
    return f"{date.today() - timedelta(days=21 - day)}T09:00:00"


def sha():
    return secrets.token_hex(20)


@pytest.fixture
def repository(cluster, user, agent, install, operator):
    made = Repository(cluster, user, agent, install)
    operator.api.put(f"/search/assets/{made.paper}", {"title": "Paper"}, expect=200)
    return made


def test_a_revert_and_its_revert_are_followed(cluster, repository):
    repository.report()
    repository.merge(5, commit=sha())
    repository.wait(stage="merged", reverted_at=None)
    repository.merge(9, f"Reverts {repository.name.upper()}#5\n" + "It was slower: é.\n" * 3000, day=2)
    row = repository.wait(reverted_by=repository.address(9), verdict="failed")
    assert (row["stage"], row["reverted_at"], row["reapplied_at"]) == ("merged", on(2) + ".000Z", None)
    (told,) = messages.told(cluster, repository.user.account, "pull_request.reverted")
    assert (told["number"], told["reverted_by"], told["reverted_at"]) == (5, repository.address(9), row["reverted_at"])
    assert stages(cluster, repository)[-1] == "reverted"
    repository.merge(11, "Reverts #9", day=3)
    row = repository.wait(reapplied_by=repository.address(11), verdict="pending")
    assert (row["reverted_by"], row["reapplied_at"]) == (repository.address(9), on(3) + ".000Z")
    assert stages(cluster, repository)[-1] == "merged"
    assert len(messages.told(cluster, repository.user.account, "pull_request.reverted")) == 1


def stages(cluster, repository):
    """What others were told of the pull request, in its order."""
    with cluster.postgres.connect("fleet") as db:
        return fleet_tables.told_stages(db, repository.address(5))


def test_a_pull_request_that_only_reverts_is_no_trial_of_the_paper(repository):
    """It stays merged for longer than 30 days, and says nothing for the paper."""
    repository.report()
    repository.merge(5, day=-20)
    repository.merge(9, "Reverts #5", day=-15)
    repository.wait(reverted_by=repository.address(9), verdict="failed")
    outcomes = repository.outcomes()
    assert [row["number"] for row in outcomes["pull_requests"]] == [5] and outcomes["verdict"] == "failed"
    repository.merge(11, "Reverts #9", day=-12)
    repository.wait(reapplied_by=repository.address(11), verdict="worked")
    outcomes = repository.outcomes()
    assert [row["number"] for row in outcomes["pull_requests"]] == [5] and outcomes["verdict"] == "worked"


def test_a_revert_locks_pull_requests_in_their_order(cluster, repository):
    """As reports do, which could otherwise wait for each other in a circle."""
    repository.report(5)
    repository.report(9)
    repository.merge(5)
    repository.wait(stage="merged")
    with cluster.postgres.connect("fleet") as holder, cluster.postgres.connect("fleet") as db:
        fleet_tables.hold_item(holder, repository.name, 5)
        repository.merge(9, "Reverts #5", day=2)
        wait_for(lambda: common.blocked_by(db, holder), "the revert waits for the first one")
        assert fleet_tables.is_item_free(db, repository.name, 9)
        holder.rollback()
    repository.wait(reverted_by=repository.address(9))


def test_a_revert_waits_for_no_pull_request_that_the_code_host_has_not_told_of(cluster, repository):
    """Any number of them may be reported, and none is merged as far as is known."""
    repository.report(5)
    repository.report(7)
    repository.merge(5)
    repository.wait(stage="merged")
    with cluster.postgres.connect("fleet") as holder:
        fleet_tables.hold_item(holder, repository.name, 7)
        repository.merge(9, "Reverts #5", day=2)
        repository.wait(reverted_by=repository.address(9))
        holder.rollback()


def test_a_pull_request_is_found_by_its_number(db, repository):
    """Among those of the repository, which people open, too."""
    repository.report(5)
    with db.transaction(force_rollback=True):
        fleet_tables.add_items(db, repository.name, 300)
        fleet_tables.revert_item(db, repository.name, 5, on(2) + "Z", by=1007)
        assert fleet_tables.items_written(db) == 0
        assert fleet_tables.items_read(db, repository.name, "#5") < 10


def test_an_event_that_says_nothing_new_waits_for_no_other_pull_request(cluster, db, user, repository):
    merged = sha()
    repository.report(5)
    repository.merge(9, "Reverts #5", commit=merged)
    wait_for(lambda: (9, "merged") in fleet_tables.items_of(db, repository.name), "it is merged")
    with cluster.postgres.connect("fleet") as holder:
        fleet_tables.hold_deliverable(holder, user.account, repository.address(5))
        repository.merge(9, commit=merged, day=2)
        wait_for(lambda: fleet_tables.item_told_at(db, repository.name, 9) == on(2), "its event is applied")
        holder.rollback()


def test_owners_are_locked_in_their_order(cluster, agent, user, other_user):
    """Two repositories of the same owners could otherwise wait for each other in a circle."""
    first, second = sorted((user, other_user), key=lambda each: each.account)
    of = {"full_name": f"acme/{secrets.token_hex(4)}", "default_branch": "main"}
    url = f"https://github.com/{of['full_name']}/pull/5"
    with cluster.postgres.connect("fleet") as holder, cluster.postgres.connect("fleet") as db:
        for owner in (second, first):
            fleet_tables.own_repository(db, owner.account, of["full_name"])
            report = {"run_id": 5, "repo": of["full_name"], "status": "pr_opened", "artifact_url": url}
            agent(of["full_name"], of=owner.api).post("/fleet/runs", report, expect=201)
        fleet_tables.hold_deliverable(holder, first.account, url)
        pull = {"number": 5, "html_url": url, "state": "closed", "merged": False, "updated_at": on(1) + "Z"}
        Hook(cluster).deliver("pull_request", {"action": "closed", "repository": of, "pull_request": pull})
        wait_for(lambda: common.blocked_by(db, holder), "the event waits for the first owner")
        assert fleet_tables.is_deliverable_free(db, second.account, url)
        holder.rollback()
        wait_for(lambda: fleet_tables.told_stages(db, url).count("closed") == 2, "it reaches both")


def test_a_reverted_experiment_has_not_worked(repository):
    repository.report()
    repository.merge(5)
    context = {"resource": {"arxiv_id": repository.paper}, "target_repo": repository.name}
    body = {"name": "E", "launch_context": context, "status": "running", "pr_url": repository.address(5), "pr_status": "merged"}
    made = repository.api.post("/experiments", body, expect=201).json()["id"]
    repository.merge(9, "Reverts #5", day=2)
    repository.wait(reverted_by=repository.address(9))

    def graph():
        return repository.api.get(f"/experiments/{made}/evidence", expect=200).json()

    edges = {(edge["from"], edge["kind"], edge["to"]) for edge in graph()["edges"]}
    assert (repository.address(5), "reverted_by", repository.address(9)) in edges
    assert graph()["summary"]["reverted_at"] == on(2) + ".000Z"
    wait_for(lambda: graph()["summary"]["verdict"] == "failed", "svc-experiments hears of it")
    repository.api.put(f"/experiments/{made}", {"outcome": "ship"}, expect=200)
    assert graph()["summary"]["verdict"] == "worked"


@pytest.mark.parametrize("order", itertools.permutations(range(4)))
def test_the_order_of_deliveries_does_not_matter(repository, order):
    merged, reverting = sha(), sha()
    steps = [
        repository.report,
        lambda: repository.merge(5, commit=merged),
        lambda: repository.push(reverting, f"Revert it\n\nThis reverts commit {merged}."),
        lambda: repository.push(sha(), f"Once more\n\nThis reverts commit {reverting}."),
    ]
    for step in order:
        steps[step]()
    row = wait_for(lambda: (row := repository.found().get(5)) and row["reapplied_by"] and row, "it was merged again")
    assert row["reverted_by"] == f"https://github.com/{repository.name}/commit/{reverting}" and row["stage"] == "merged"


def test_a_revert_that_a_pull_request_and_its_commit_tell_of_is_one(repository):
    """Merged by a commit that says itself what it reverts."""
    merged, merge = sha(), sha()
    repository.report()
    repository.merge(5, commit=merged)
    repository.push(merge, f"Revert it (#9)\n\nThis reverts commit {merged}.")
    repository.merge(9, "Reverts #5", commit=merge, day=2)
    repository.wait(reverted_by=repository.address(9))
    repository.merge(11, "Reverts #9", day=3)
    repository.wait(reapplied_by=repository.address(11))


def test_what_reverts_nothing_of_the_account(repository):
    repository.report()
    repository.merge(5)
    repository.merge(6, "Reverts other/place#5", day=2)
    repository.merge(7, "Reverts #5", day=2, base="topic")
    repository.push(sha(), "Reverts #5", branch="topic")
    repository.merge(8, "It Reverts #5", day=2)
    repository.merge(5, day=3)
    row = repository.wait(stage="merged")
    repository.merge(10, "Reverts #5", day=4)
    assert row["reverted_at"] is None and repository.wait(reverted_at=on(4) + ".000Z")
