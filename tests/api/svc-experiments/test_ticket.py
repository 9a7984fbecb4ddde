"""The ticket of an experiment: its title and state, and the decision that is posted to it. tracker_a is emulate's Linear, tracker_b
has Jira's API from a stand-in of our own."""

import re
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.http import plain_http
from lib.outside.counterparts import connect
from lib.outside.jira import document_of, lines_of
from lib.tables import common
from lib.tables.experiments import delete_experiment, let_ticket_be_read, tickets
from lib.wait import wait_for

DECISION = {"name": "Late interaction", "outcome": "ship", "decision": "Scores rise. \"Worth\" it.\nShip\tit.", "observed_delta": 0.031,
            "delta_confidence": "not_tested", "target_metric": "nDCG"}  # fmt: skip


PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def shown(markdown):
    """The paragraphs of a text in Markdown in which nothing but letters and line ends means something."""
    plain = re.sub(rf"\\[{re.escape(PUNCTUATION)}]|:", "", markdown)
    assert not set(plain) & set(PUNCTUATION), markdown
    rows = re.sub(rf"\\([{re.escape(PUNCTUATION)}])", r"\1", markdown).split("\n\n")
    assert not [row for row in rows if "\n" in row or row != row.strip()], markdown
    return rows


class Linear:
    """Tickets of emulate's Linear, made and read with the user's own token."""

    source = "tracker_a"

    def __init__(self, host, api):
        self.host, self.api = host, api
        connect(api, self.source, host.tracker_user())
        self.token = api.get(f"/integrations/{self.source}/token", expect=200).json()["access_token"]

    def ask(self, query, **variables):
        answer = plain_http.post(f"{self.host.tracker_url}/graphql", json={"query": query, "variables": variables},
                            headers={"Authorization": f"Bearer {self.token}"}).json()  # fmt: skip
        assert "errors" not in answer, answer
        return answer["data"]

    def add(self, title):
        team = self.ask("{ teams { nodes { id } } }")["teams"]["nodes"][0]["id"]
        query = "mutation($input: IssueCreateInput!) { issueCreate(input: $input) { issue { identifier } } }"
        return self.ask(query, input={"teamId": team, "title": title})["issueCreate"]["issue"]["identifier"]

    def state(self, ticket):
        return self.ask("query($id: String!) { issue(id: $id) { state { name } } }", id=ticket)["issue"]["state"]["name"]

    def url(self, ticket):
        return self.ask("query($id: String!) { issue(id: $id) { url } }", id=ticket)["issue"]["url"]

    def rename(self, ticket, title):
        query = "mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }"
        self.ask(query, id=ticket, input={"title": title})

    def discuss(self, ticket, count):
        issue = self.ask("query($id: String!) { issue(id: $id) { id } }", id=ticket)["issue"]["id"]
        said = " ".join(f'c{n}: commentCreate(input: {{issueId: $id, body: "{n}"}}) {{ success }}' for n in range(count))
        self.ask(f"mutation($id: String!) {{ {said} }}", id=issue)

    def comments(self, ticket):
        query = "query($id: String!) { issue(id: $id) { comments { nodes { body } } } }"
        return [shown(each["body"]) for each in self.ask(query, id=ticket)["issue"]["comments"]["nodes"]]

    def fail(self, status):
        self.host.control("POST", "/failures", {"method": "POST", "path": "/graphql", "status": status, "body": {}}, url=self.host.tracker_url)

    def asked(self, ticket):
        return [row for row in self.host.requests(method="POST", path="/graphql$", url=self.host.tracker_url) if ticket in (row["body"] or "")]


class Jira:
    source = "tracker_b"

    def __init__(self, jira, api):
        self.jira = jira
        connect(api, self.source, secrets.token_hex(4))
        jira.tokens.add(api.get(f"/integrations/{self.source}/token", expect=200).json()["access_token"])
        jira.sites.clear()
        self.site = jira.add_site()

    def add(self, title):
        return self.jira.add_issue(self.site, title)

    def issue(self, ticket):
        return self.jira.issues[self.site, ticket]

    def state(self, ticket):
        return self.issue(ticket)["state"]

    def rename(self, ticket, title):
        self.issue(ticket)["title"] = title

    def discuss(self, ticket, count):
        self.issue(ticket)["comments"] += [document_of(str(n)) for n in range(count)]

    def comments(self, ticket):
        return [lines_of(document) for document in self.issue(ticket)["comments"]]

    def asked(self, ticket):
        return self.jira.asked(ticket)


@pytest.fixture
def jira(cluster):
    yield cluster.jira
    cluster.jira.status = 200


@pytest.fixture(params=["linear", "jira"])
def tracker(request, api):
    if request.param == "linear":
        return Linear(request.getfixturevalue("code_host"), api)
    request.getfixturevalue("oauth_provider")
    return Jira(request.getfixturevalue("jira"), api)


@pytest.fixture
def experiment(api):
    """experiment(source, ticket, **members): its path."""

    def make(source, ticket, **members):
        body = {"name": "Late interaction", "ticket_source": source, "external_ticket_id": ticket, **members}
        return f"/experiments/{api.post('/experiments', body, expect=201).json()['id']}"

    return make


def test_a_ticket_shows_title_and_state_and_is_not_read_each_time(api, tracker, experiment, db):
    ticket = tracker.add("Try “late” interaction")
    path = experiment(tracker.source, ticket)
    shown = api.get(f"{path}/ticket", expect=200).json()
    assert (shown["ticket_source"], shown["external_ticket_id"], shown["fault"]) == (tracker.source, ticket, None)
    assert (shown["title"], shown["state"]) == ("Try “late” interaction", tracker.state(ticket))
    assert shown["read_at"]
    tracker.rename(ticket, "Another title")
    before = len(tracker.asked(ticket))
    assert api.get(f"{path}/ticket", expect=200).json() == shown and len(tracker.asked(ticket)) == before
    let_ticket_be_read(db, path.split("/")[-1])
    assert api.get(f"{path}/ticket", expect=200).json()["title"] == "Another title"


def test_a_comment_is_shown_as_it_was_written(api, tracker, experiment):
    ticket = tracker.add("Try late interaction")
    name = "Attention ![](https://evil.example/p.png) [log in again](https://evil.example) <b>&amp;"
    path = experiment(tracker.source, ticket, name=name, outcome="ship", decision="Because:\n\n* 3 of 5 `x` #2 _y_ @ada\n    1. more \\o/")
    api.post(f"{path}/ticket-comment", expect=200)
    (lines,) = tracker.comments(ticket)
    assert [line.strip() for line in lines[:-1]] == [f"Experiment: {name}", "Outcome: ship", "Decision: Because:",
                                                     "* 3 of 5 `x` #2 _y_ @ada", "1. more \\o/"]  # fmt: skip
    assert api.post(f"{path}/ticket-comment", expect=200).json()["created"] is False


def test_the_decision_is_posted_once_and_again_when_it_changes(api, tracker, experiment):
    ticket = tracker.add("Try late interaction")
    path = experiment(tracker.source, ticket, **DECISION)
    said = api.post(f"{path}/ticket-comment", expect=200).json()
    assert said == {"experiment_id": path.split("/")[-1], "ticket_source": tracker.source, "external_ticket_id": ticket, "created": True}
    (lines,) = tracker.comments(ticket)
    assert lines[0] == "Experiment: Late interaction" and lines[1] == "Outcome: ship" and 'Decision: Scores rise. "Worth" it.' in lines
    assert "Observed change: 0.031 of nDCG (not tested)" in lines and lines[-1].startswith("expops:")
    assert api.post(f"{path}/ticket-comment", expect=200).json()["created"] is False
    api.put(path, {"decision": "Not after all."}, expect=200)
    assert api.post(f"{path}/ticket-comment", expect=200).json()["created"] is True
    assert len(tracker.comments(ticket)) == 2


def test_the_decision_is_found_behind_fifty_older_comments(api, tracker, experiment):
    ticket = tracker.add("Try late interaction")
    path = experiment(tracker.source, ticket, **DECISION)
    tracker.discuss(ticket, 55)
    for is_created in (True, False):
        assert api.post(f"{path}/ticket-comment", expect=200).json()["created"] is is_created


def test_a_ticket_that_is_not_there_is_a_fault(api, tracker, experiment):
    path = experiment(tracker.source, "ENG-9999")
    shown = api.get(f"{path}/ticket", expect=200).json()
    assert "ENG-9999" in shown["fault"] and (shown["title"], shown["read_at"]) == (None, None)
    api.put(path, DECISION, expect=200)
    api.problem("POST", f"{path}/ticket-comment", 404, "not_found")


def test_a_tracker_that_fails_leaves_what_was_read(api, experiment, db, jira, oauth_provider):
    tracker = Jira(jira, api)
    path = experiment("tracker_b", tracker.add("Try it"), **DECISION)
    api.get(f"{path}/ticket", expect=200)
    jira.status = 503
    let_ticket_be_read(db, path.split("/")[-1])
    shown = api.get(f"{path}/ticket", expect=200).json()
    assert shown["title"] == "Try it" and "503" in shown["fault"]
    assert api.post(f"{path}/ticket-comment").status_code in (502, 503)
    jira.status = 200
    let_ticket_be_read(db, path.split("/")[-1])
    assert api.get(f"{path}/ticket", expect=200).json()["fault"] is None


def test_a_tracker_that_refuses_the_connection_once_is_asked_again(api, experiment, db, jira, oauth_provider):
    tracker = Jira(jira, api)
    path = experiment("tracker_b", tracker.add("Try it"), **DECISION)
    jira.status = 401
    api.problem("POST", f"{path}/ticket-comment", 503, "unavailable")
    jira.status = 200
    assert api.post(f"{path}/ticket-comment", expect=200).json()["created"] is True


@pytest.fixture
def two_sites(api, jira, oauth_provider):
    """(tracker, key, {name: address of the site}): both sites have an issue of the key."""
    tracker = Jira(jira, api)
    key, second = tracker.add("On the first"), jira.add_site()
    jira.issues[second, key] = {"title": "On the second", "state": "To Do", "comments": []}
    return tracker, key, {"On the first": jira.sites[tracker.site], "On the second": jira.sites[second]}


def said_at_sites(jira, key):
    return [lines_of(document) for (_, each), issue in jira.issues.items() if each == key for document in issue["comments"]]


@pytest.mark.parametrize("name", ["On the first", "On the second"])
@pytest.mark.parametrize("told", ["atlassian", "Atlassian"])
def test_the_address_of_a_ticket_tells_its_site(api, experiment, jira, two_sites, name, told):
    """Also where the tracker writes its host in capitals."""
    _, key, sites = two_sites
    jira.sites.update({site: url.replace("atlassian", told) for site, url in jira.sites.items()})
    path = experiment("tracker_b", key, ticket_url=f"{sites[name]}/browse/{key}")
    assert api.get(f"{path}/ticket", expect=200).json()["title"] == name


def test_a_ticket_at_another_site_is_none(api, experiment, jira, two_sites):
    _, key, sites = two_sites
    site = sites["On the first"]
    for other in (site.replace("//", "//other-"), f"{site}.attacker.example", f"{site}x", site.replace("example", "example.org")):
        url = f"{other}/browse/{key}"
        path = experiment("tracker_b", key, ticket_url=url, **DECISION)
        shown = api.get(f"{path}/ticket", expect=200).json()
        assert shown["title"] is None and shown["fault"].endswith(f"that you can see at {url}")
        api.problem("POST", f"{path}/ticket-comment", 404, "not_found")
    assert said_at_sites(jira, key) == []


def test_of_several_sites_none_is_taken_without_an_address(api, experiment, jira, two_sites):
    _, key, _ = two_sites
    path = experiment("tracker_b", key, **DECISION)
    assert "several sites" in api.get(f"{path}/ticket", expect=200).json()["fault"]
    assert "several sites" in api.problem("POST", f"{path}/ticket-comment", 409, "conflict")["detail"]
    assert said_at_sites(jira, key) == []


def test_a_ticket_in_another_workspace_is_none(api, code_host, experiment):
    tracker = Linear(code_host, api)
    key = tracker.add("Ours")
    url = tracker.url(key)
    path = experiment("tracker_a", key, ticket_url=f"{url.upper().replace('HTTP', 'http')}/ours", **DECISION)
    assert api.get(f"{path}/ticket", expect=200).json()["title"] == "Ours"
    for other in (url.replace("/emulate/", "/emulates/"), url.replace("/emulate/", "/other/"), f"https://linear.example/emulate/issue/{key}"):
        path = experiment("tracker_a", key, ticket_url=other, **DECISION)
        shown = api.get(f"{path}/ticket", expect=200).json()
        assert shown["title"] is None and shown["fault"].endswith(f"that you can see at {other}")
        api.problem("POST", f"{path}/ticket-comment", 404, "not_found")
    assert tracker.comments(key) == []


def test_what_a_tracker_says_is_bounded(api, experiment, jira, oauth_provider):
    tracker = Jira(jira, api)
    ticket = tracker.add("x" * 5000)
    tracker.issue(ticket)["state"] = {"not": "a text"}
    shown = api.get(f"{experiment('tracker_b', ticket)}/ticket", expect=200).json()
    assert (shown["title"], shown["state"], shown["fault"]) == ("x" * 1000, None, None)


@pytest.mark.parametrize("ticket", ["../../../../../oauth/token", "A B", "ENG-1/comment", "ENG-1?x"])
def test_an_id_leads_to_no_other_address(api, experiment, jira, oauth_provider, ticket):
    Jira(jira, api)
    before = len(jira.requests)
    assert api.get(f"{experiment('tracker_b', ticket)}/ticket", expect=200).json()["fault"]
    assert len(jira.requests) == before


def test_what_has_no_ticket_or_no_decision_says_so(api, experiment):
    for source, ticket in ((None, None), ("tracker_a", None), ("board", "ENG-1")):
        path = experiment(source, ticket)
        api.problem("GET", f"{path}/ticket", 404, "not_found")
        api.problem("POST", f"{path}/ticket-comment", 404, "not_found")
    problem = api.problem("POST", f"{experiment('tracker_a', 'ENG-1')}/ticket-comment", 409, "conflict")
    assert "decision" in problem["detail"]


def test_a_ticket_whose_experiment_is_deleted_at_once_is_missing(cluster, api, experiment):
    path = experiment("tracker_a", "ENG-1")
    with cluster.postgres.connect("experiments") as deleting, cluster.postgres.connect("experiments") as db, ThreadPoolExecutor() as pool:
        delete_experiment(deleting, path.rsplit("/", 1)[1])
        answer = pool.submit(api.get, f"{path}/ticket")
        wait_for(lambda: common.blocked_by(db, deleting), "the request waits")
        deleting.commit()
        assert answer.result().status_code == 404


def test_only_the_ticket_that_an_experiment_names_is_kept(api, experiment, db):
    path = experiment("tracker_a", "ENG-1")
    id = path.rsplit("/", 1)[1]
    for source, ticket in (("tracker_a", "ENG-1"), ("tracker_a", "ENG-2"), ("tracker_b", "ENG-2"), ("tracker_a", "ENG-1")):
        api.put(path, {"ticket_source": source, "external_ticket_id": ticket}, expect=200)
        shown = api.get(f"{path}/ticket", expect=200).json()
        assert (shown["ticket_source"], shown["external_ticket_id"]) == (source, ticket)
        assert tickets(db, id) == [(source, ticket)]
    api.put(path, {"external_ticket_id": None}, expect=200)
    api.get(f"{path}/ticket", expect=404)
    assert tickets(db, id) == []


def test_without_a_connection_the_fault_says_so(api, experiment):
    shown = api.get(f"{experiment('tracker_a', 'ENG-1')}/ticket", expect=200).json()
    assert "not connected" in shown["fault"]
    api.problem("POST", f"{experiment('tracker_a', 'ENG-1', **DECISION)}/ticket-comment", 404, "not_found")
