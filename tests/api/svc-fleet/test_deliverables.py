"""What runs opened: whose it is when several repositories' runs name one link, and what becomes of what was noted of it."""

import secrets
import signal

import pytest

from lib.check import messages
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

EARLY = "2016-01-02T09:00:00Z"
SECOND = "2026-01-10T09:00:00Z"


class Link:
    """A pull request of a repository of the account, and reports of runs that name it."""

    def __init__(self, user, agent):
        self.api, self.repo = user.api, f"acme/{secrets.token_hex(4)}"
        self.url = f"https://github.com/{self.repo}/pull/5"
        self.own, self.foreign = agent(self.repo), agent("acme/foreign")

    def report(self, run_id, **members):
        """By a run of its repository."""
        self.own.post("/fleet/runs", {"run_id": run_id, "repo": self.repo, "status": "pr_opened", "artifact_url": self.url, **members}, expect=201)

    def claim(self, run_id, **members):
        """By a run of another repository."""
        body = {"run_id": run_id, "repo": "acme/foreign", "status": "pr_opened", "artifact_url": self.url, "started_at": EARLY, **members}
        self.foreign.post("/fleet/runs", body, expect=201)

    def shown(self):
        """(kind, repository, run, stage) as the report has it."""
        rows = self.api.get("/fleet/agents/report", expect=200).json()["deliverables"]
        return [(row["kind"], row["repo"], row["run_id"], row["stage"]) for row in rows if row["url"] == self.url]


@pytest.fixture
def link(user, agent):
    return Link(user, agent)


def test_a_link_is_that_of_its_repository_s_run(cluster, user, link, tell):
    link.claim(1)
    link.report(1)
    assert link.shown() == [("pull_request", link.repo, 1, "open")]
    (item,) = [each for each in user.api.get("/fleet/agents/inbox", expect=200).json() if each["kind"] == "pull_request_waiting"]
    assert (item["repo"], item["href"]) == (link.repo, link.url)
    (opened,) = messages.told(cluster, user.account, "pull_request.opened")
    assert (opened["repo"], opened["artifact_url"], opened["number"]) == (link.repo, link.url, 5)
    tell(link.repo, 5, "merged", None, None)
    assert link.shown() == [("pull_request", link.repo, 1, "merged")]


def test_a_run_of_another_repository_does_not_take_a_link(user, link, tell, db):
    link.report(2, arxiv_id="2201.00001")
    link.claim(1, arxiv_id="2202.00002")
    assert link.shown() == [("pull_request", link.repo, 2, "open")]
    assert fleet_tables.told_stages(db, link.url) == ["open"]


def test_a_link_that_a_stranger_reports_leaves_nothing_in_its_repository(db, link, agent, tell, other_user):
    """What the code host tells of a repository, and each revert in it, is for its owners: nobody else makes rows there."""
    stranger = agent(link.repo, of=other_user.api)
    for number, repo in ((1, link.repo), (2, "acme/foreign")):
        of = stranger if repo == link.repo else agent(repo, of=other_user.api)
        url = f"https://github.com/{link.repo}/pull/{number}"
        of.post("/fleet/runs", {"run_id": number, "repo": repo, "status": "pr_opened", "artifact_url": url}, expect=201)
    assert fleet_tables.items_of(db, link.repo) == []
    tell(link.repo, 1, "merged", None, SECOND)

    def stage():
        rows = other_user.api.get("/fleet/agents/report", expect=200).json()["deliverables"]
        return {row["run_id"]: row["stage"] for row in rows}[1]

    assert stage() == "open"
    fleet_tables.own_repository(db, other_user.account, link.repo)
    assert stage() == "merged", "it is an owner now"


def test_a_link_goes_on_to_the_next_run_of_its_repository(user, link):
    link.report(2)
    link.claim(1)
    link.report(3)
    user.api.delete(f"/fleet/runs/2?repo={link.repo}", expect=200)
    assert link.shown() == [("pull_request", link.repo, 3, "open")]


def test_what_was_told_of_a_link_is_known_of_the_run_that_it_is_of(link, tell):
    link.claim(1)
    tell(link.repo, 5, "closed", None, None)
    link.report(2)
    assert link.shown() == [("pull_request", link.repo, 2, "closed")]


def test_links_that_no_run_names_are_forgotten(cluster, db, user, link):
    keep = lambda: cluster["svc-fleet"][0].popen.send_signal(signal.SIGHUP)  # noqa: E731
    fleet_tables.own_repository(db, user.account, link.repo)
    link.claim(1)
    link.report(2)
    fleet_tables.add_old_facts(db, user.account, days=1200)
    keep()
    wait_for(lambda: set(fleet_tables.old_facts(db, user.account).values()) == {0}, "old rows are deleted")
    assert fleet_tables.items_of(db, link.repo) == [(5, None)]
    for run, repo in ((1, "acme/foreign"), (2, link.repo)):
        user.api.delete(f"/fleet/runs/{run}?repo={repo}", expect=200)
    keep()
    wait_for(lambda: fleet_tables.items_of(db, link.repo) == [], "what was noted of the link is gone")


# ---- in one second ----


def test_the_end_of_a_run_in_the_second_of_its_start_stays(api, db, user, link):
    fleet_tables.own_repository(db, user.account, link.repo)
    for status, conclusion in (("completed", "failure"), ("in_progress", None), ("queued", None)):
        fleet_tables.tell_run(db, link.repo, run_id=7, status=status, conclusion=conclusion, started_at=SECOND, updated_at=SECOND)
    (run,) = api.get(f"/fleet/runs?repo={link.repo}", expect=200).json()
    assert (run["status"], run["outcome_kind"]) == ("failed", "failed")
    fleet_tables.tell_run(db, link.repo, run_id=7, status="in_progress", conclusion=None, started_at=SECOND, updated_at="2026-01-10T09:00:01Z")
    (run,) = api.get(f"/fleet/runs?repo={link.repo}", expect=200).json()
    assert run["outcome_kind"] == "running"


@pytest.mark.parametrize("end", ["closed", "merged"])
def test_the_end_of_a_pull_request_in_the_second_of_its_start_stays(db, link, tell, end):
    link.report(1)
    tell(link.repo, 5, end, None, SECOND)
    fleet_tables.tell_item(db, link.repo, "pull_request", 5, "open", SECOND, None, at=SECOND)
    assert fleet_tables.items_of(db, link.repo) == [(5, end)]
    fleet_tables.tell_item(db, link.repo, "pull_request", 5, "open", None, None, at="2026-01-10T09:00:01Z")
    assert fleet_tables.items_of(db, link.repo) == [(5, "open")]
