"""What people do with agents, the inbox, keys, lists and their team, in a real browser."""

import json
import uuid

import pytest
from lib.http.identity import identity
from lib.http import plain_http
from lib.http.browser import Browser
from lib.outside.counterparts import connect
from lib.scenario.fleet import REPO, SCOPES, now
from lib.scenario.provisioning import new_team
from lib.scenario.sample import load_sample
from lib.tables import fleet as fleet_tables

HOSTILE = "<img src=x onerror=\"wasRun=1\"> & 'quotes'"
PULL = "https://github.com/acme/ranker/pull/3"


@pytest.fixture
def idle(cluster):
    """An account with an agent that has not run, and the key of that agent."""
    user = cluster.user()
    installed = {"repo": REPO, "agent": "agent_one", "provider": "anthropic", "key_id": str(uuid.uuid4())}
    sender = identity(cluster, "svc-fleet", "service", account=user.account)
    assert plain_http.post(f"{cluster.url('svc-fleet')}/internal/fleet/installations", json=installed, auth=sender).status_code == 200
    key = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    return user, user.api.as_key(user.api.post("/account/api-keys", key, expect=201).json()["key"])


@pytest.fixture
def installed(idle):
    """An account with an agent that has opened a pull request (7) and then failed (8), and the key of that agent."""
    user, agent = idle
    agent.post("/fleet/runs", {
        "run_id": 7, "repo": REPO, "status": "pr_opened", "artifact_url": PULL, "agent": "agent_one", "model": "large", "cost_usd": 1.5,
        "arxiv_id": "2205.14135", "candidates_considered": 40, "selection_reasoning_excerpt": HOSTILE, "files_touched": ["attention.py", HOSTILE],
        "selection_rejected": [{"arxiv_id": "2301.00001", "reason": HOSTILE, "gate": "license"}], "test_status": "passed",
    }, expect=201)  # fmt: skip
    agent.post("/fleet/runs", {
        "run_id": 7, "run_attempt": 2, "repo": REPO, "status": "pr_opened", "provider": "openai", "model": "gpt-5.1-codex",
        "input_tokens": 400_000, "output_tokens": 100_000,
    }, expect=200)  # fmt: skip
    agent.post("/fleet/runs", {"run_id": 8, "repo": REPO, "status": "failed", "error": "no space", "agent": "agent_one"}, expect=201)
    return user, agent


@pytest.fixture
def fleet(installed):
    return installed[0]


def test_the_pages_of_agents_runs_and_the_inbox_are_sound(browse, fleet):
    pages = ["agents", f"agents/{REPO}", f"runs/7?repo={REPO}", "runs/8", "runs/none", "agents/acme/none", "inbox", "inbox?kind=run_failed",
             "inbox?kind=access_lost&view=archived", "experiments/actionable", "join"]  # fmt: skip
    found = browse("pages", key=fleet.key, pages=pages)["found"]
    (missing,) = found  # the agent that is not there
    assert "404 (Not Found)" in missing and "activity" in missing


def test_an_agent_leads_to_its_runs(browse, cluster, fleet):
    cluster.user(operator=True).api.put("/search/assets/2205.14135", {"title": HOSTILE}, expect=200)
    seen = browse("agent", key=fleet.key, repo=REPO, run=7, paper=HOSTILE)
    assert (seen["errors"], seen["wasRun"]) == ([], False)
    assert seen["periods"] == [30, 7]
    assert "agent_one, with gpt-5.1-codex" in seen["asked"] and "$1.50" in seen["asked"]
    assert all(word in seen["passed"] for word in ("2301.00001", "license", HOSTILE))
    assert all(word in seen["main"] for word in ("2205.14135", "attention.py", "40 candidates", "$3.00, estimated, by prices of Nov 13, 2025"))


def test_pull_requests_that_are_older_than_the_period_are_offered_and_counted(browse, cluster, idle):
    user, agent = idle
    closed_at = now()
    opened, merged = (f"https://github.com/{REPO}/pull/{number}" for number in (5, 6))
    for run, pull in enumerate((opened, merged), 1):
        agent.post("/fleet/runs", {
            "run_id": run, "repo": REPO, "status": "pr_opened", "artifact_url": pull, "agent": "agent_one",
            "started_at": now(days=-100), "finished_at": now(days=-100),
        }, expect=201)  # fmt: skip
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.own_repository(db, user.account, REPO)
        fleet_tables.tell_item(db, REPO, "pull_request", 6, "merged", now(days=-100), closed_at)
    seen = browse("old", key=user.key)
    assert (seen["errors"], seen["review"], len(seen["days"])) == ([], opened, 30)
    assert [day for day, count in seen["days"] if count != "0"] == [closed_at[:10]]


def test_runs_and_papers_of_an_agent_past_the_first_are_found(browse, installed):
    user, agent = installed
    for number in range(100, 220):
        run = {"run_id": number, "repo": REPO, "status": "running", "agent": "agent_one", "arxiv_id": f"2401.{number % 15:05}"}
        agent.post("/fleet/runs", run, expect=201)
    seen = browse("many", key=user.key, repo=REPO)
    first, all = seen["counts"]
    assert (seen["errors"], seen["found"], first) == ([], [], 10) and all >= 15


def test_a_run_is_found_whatever_it_is_called(browse, idle):
    user, agent = idle
    runs = ["job%20one", "job one", "a/b", "a%2Fb", "%", ".", ".."]
    for number, run in enumerate(runs):
        agent.post("/fleet/runs", {"run_id": run, "repo": REPO, "status": "failed", "agent": f"agent-{number}"}, expect=201)
    assert browse("named", key=user.key, runs=runs) == {"errors": [], "told": [f"agent-{n // 2}" for n in range(2 * len(runs))]}


def test_an_agent_is_set_up_and_connections_are_given_up(browse, cluster, code_host):
    team = new_team(cluster, code_host)
    seen = browse("setup", key=team.api.key, interest=team.interest)
    assert (seen["errors"], seen["found"]) == ([], []) and seen["token"].startswith("auto_")
    assert seen["again"] == "agent_three"
    assert [each for each in team.api.get("/integrations/providers", expect=200).json() if each["connected"]] == []


def test_the_step_at_which_a_set_up_failed_is_named(browse, cluster, code_host):
    """The repository has the key of an agent of another account."""
    first, second = new_team(cluster, code_host), new_team(cluster, code_host)
    assert first.provision()["status"] == "completed"
    code_host.collaborate(first.repo, second.at_host.login)
    second.api.put(f"/interests/{second.interest}", {"context": "Ranking."}, expect=200)
    assert second.provision(repo=first.repo)["status"] == "failed"
    seen = browse("failure", key=second.api.key, interest=second.interest, step="Give the repository a key of the agent")
    assert (seen["errors"], seen["found"]) == ([], []) and "another account" in seen["step"]


def test_an_interest_is_proposed_by_its_repository(browse, cluster, code_host):
    user, at_host = cluster.user(), code_host.user()
    connect(user.api, "code_host", at_host.login)
    repo = code_host.repository(at_host.login, name="ranker", files={"README.md": "# Ranker\n\nRanks passages by late interaction.\n"})
    seen = browse("propose", key=user.key, repository=f"{code_host.url}/{repo}")
    assert (seen["errors"], seen["first"]) == ([], "Late interaction for ranking passages")
    made = user.api.get(f"/interests/{seen['address'].rpartition('/')[2]}", expect=200).json()
    assert made["name"] == "ranker" and "late interaction" in made["context"]


def test_the_inbox_is_filtered_read_and_dismissed_by_keys(browse, fleet):
    seen = browse("inbox", key=fleet.key, failed="no space")
    assert (seen["errors"], seen["found"]) == ([], [])


def test_experiments_are_filtered_by_tag_and_columns_are_remembered(browse, cluster):
    user = cluster.user()
    for name, tags in (("Tagged", ["50%25 & small"]), ("Other", [])):
        user.api.post("/experiments", {"name": name, "tags": tags}, expect=201)
    seen = browse("columns", key=user.key, tag="50%25 & small", other="Other")
    assert (seen["errors"], seen["found"], seen["names"]) == ([], [], ["Tagged"])
    assert "Metric" in seen["columns"] and "Outcome" not in seen["columns"] and seen["address"] == "?tag=50%2525%20%26%20small"


def test_experiments_past_the_first_hundred_are_found_by_one_key(browse, cluster):
    user = cluster.user()
    for number in range(110):
        user.api.post("/experiments", {"name": f"Number {number}"}, expect=201)
    ranges = [f"{first} – {min(first + 24, 110)} of 110" for first in range(26, 110, 25)]
    seen = browse("long", key=user.key, ranges=ranges, last="Number 0")
    assert (seen["errors"], seen["isLast"]) == ([], True)


def test_papers_are_searched_and_filtered(browse, cluster):
    load_sample(cluster)
    user = cluster.user()
    categories = ["cs.CL", "cs.CV"]
    params = {"category": categories, "limit": 1}
    total = int(user.api.get("/search/assets/list", params=params, expect=200).headers["X-Total-Count"])
    seen = browse("papers", key=user.key, words="attention transformer", categories=categories)
    assert (seen["errors"], seen["found"], seen["told"]) == ([], [], f"{total:,} papers, newest first")
    assert {word.lower() for word in seen["matches"]} >= {"attention", "transformer"}
    assert seen["addresses"] == ["?q=attention+transformer&offset=25", "?categories=cs.CL+cs.CV"]


def test_lists_stay_up_to_date_unless_that_is_switched_off(browse, cluster):
    seen = browse("live", key=cluster.user().key)
    assert (seen["whileOff"], seen["stays"]) == (0, True)


def test_keys_are_made_changed_and_deleted(browse, cluster):
    user = cluster.user()
    seen = browse("keys", key=user.key)
    (refused,) = seen["errors"]  # too many days
    assert "400 (Bad Request)" in refused and seen["found"] == [] and REPO in seen["limited"] and seen["isCopied"]
    assert "wider" not in [key["name"] for key in user.api.get("/account/api-keys", expect=200).json()["keys"]]


def test_every_session_and_key_is_shown_with_whose_it_is(browse, cluster):
    owner, guest = cluster.user(), cluster.user()
    invitation = owner.api.post("/team/invitations", {"email": guest.email, "role": "member"}, expect=201).json()
    joined = Browser(cluster.gateway_url, guest.key)
    joined.call("POST", "/team/invitations/accept", {"token": invitation["url"].partition("#")[2]}, expect=200)
    for browser in (joined, Browser(cluster.gateway_url, guest.key)):
        browser.call("POST", "/session/switch", {"account_id": owner.account}, expect=200)
    joined.call("POST", "/account/api-keys", {"name": "laptop", "scopes": ["search:read"]}, expect=201)
    for _ in range(11):
        Browser(cluster.gateway_url, owner.key)
    seen = browse("sessions", key=owner.key, guest=guest.email, total=14)
    assert (seen["errors"], seen["found"]) == ([], [])
    assert [sum(email in row for row in seen["shown"]) for email in (owner.email, guest.email)] == [12, 2] and len(seen["shown"]) == 14
    assert guest.email in seen["title"] and guest.email in seen["keys"] and owner.email in seen["keys"]
    assert len(owner.api.get("/sessions?limit=100", expect=200).json()) == 13


def test_somebody_is_invited_joins_and_is_removed(browse, cluster):
    owner, guest = cluster.user(), cluster.user()
    named = {user.email: user.api.get("/accounts", expect=200).json()[0]["name"] for user in (owner, guest)}
    seen = browse("team", key=owner.key, guest=guest.key, email=guest.email, own=named[guest.email], team=named[owner.email])
    assert (seen["errors"], seen["found"], seen["givenUp"]) == ([], [], "member")
    assert [member["email"] for member in owner.api.get("/team", expect=200).json()["members"]] == [owner.email]


def test_an_account_is_renamed_and_another_founded(browse, cluster):
    user = cluster.user()
    seen = browse("accounts", key=user.key, renamed="Ranking", founded=HOSTILE)
    assert (seen["errors"], seen["found"]) == ([], [])
    assert [account["name"] for account in user.api.get("/accounts", expect=200).json()] == ["Ranking", HOSTILE]


@pytest.mark.parametrize("is_deaf", [False, True])
def test_a_window_follows_another_one_that_switches_the_account(browse, cluster, is_deaf):
    """A form of the former account is never sent in the name of the new one, also where the window did not hear of the switch."""
    user, other = cluster.user(), f"Other {uuid.uuid4()}"
    made = Browser(cluster.gateway_url, user.key).call("POST", "/accounts", {"name": other}, expect=201).json()["id"]
    seen = browse("windows", key=user.key, other=other, isDeaf=is_deaf)
    assert (seen["errors"], seen["hasForm"]) == ([], False)
    assert seen["refused"] > 0 if is_deaf else seen["refused"] == 0
    assert user.api.get("/team", expect=200).json()["invitations"] == []
    browser = Browser(cluster.gateway_url, user.key)
    browser.call("POST", "/session/switch", {"account_id": made}, expect=200)
    assert browser.call("GET", "/team", expect=200).json()["invitations"] == []


def test_what_is_typed_in_a_window_outlives_the_session_of_another(browse, cluster):
    assert browse("typed", key=cluster.user().key) == {"errors": [], "typed": "Mine"}


def test_a_change_is_found_in_the_audit_log(browse, cluster):
    user = cluster.user()
    made = user.api.post("/account/api-keys", {"name": "laptop", "scopes": ["search:read"]}, expect=201).json()["id"]
    user.api.patch(f"/account/api-keys/{made}", {"name": HOSTILE, "expires_in_days": 9}, expect=200)
    seen = browse("audit", key=user.key, email=user.email)
    assert (seen["errors"], seen["found"]) == ([], [])
    (row,) = [each for each in seen["rows"] if "key updated" in each]
    assert all(part in row for part in (f"laptop → {HOSTILE}", "expires at:", user.email, "done", "127.0.0.1"))
    assert seen["address"].startswith("?action=key.&person=")
    actions = [json.loads(line)["action"] for line in seen["file"].splitlines()]
    assert actions[:2] == ["key.updated", "key.created"] and {action.split(".")[0] for action in actions} == {"key"}


@pytest.fixture
def name():
    """Of a user of the provider whom no other test has."""
    return f"u{uuid.uuid4().hex[:12]}"


def test_a_person_logs_in_at_the_provider(browse_at_provider, cluster, name):
    team = cluster.user()
    with browse_at_provider(team.account) as browse:
        seen = browse("provider", user=name)
    assert (seen["errors"], seen["found"], seen["hasKey"]) == ([], [], True)
    assert seen["address"] == "/console/experiments?status=running" and "expops" in seen["cookies"]
    assert "expops-login" not in seen["cookies"]
    assert {member["email"]: member["role"] for member in team.api.get("/team", expect=200).json()["members"]}[f"{name}@example.org"] == "member"


def test_who_logs_in_at_the_provider_again_goes_on(browse_at_provider, cluster, name):
    with browse_at_provider(cluster.user().account) as browse:
        seen = browse("aside", user=name)
    assert (seen["errors"], seen["found"], seen["typed"]) == ([], [], "Mine")


def test_who_is_invited_accepts_by_the_log_in_at_the_provider(browse_at_provider, cluster, name):
    user = cluster.user()
    invitation = user.api.post("/team/invitations", {"email": f"{name}@example.org", "role": "viewer"}, expect=201).json()["url"]
    path = invitation[invitation.index("/console/"):]
    with browse_at_provider(user.account, OIDC_JOIN="") as browse:
        seen = browse("newcomer", user=name, invitation=path)
    assert (seen["errors"], seen["found"]) == ([], [])
    assert {member["email"]: member["role"] for member in user.api.get("/team", expect=200).json()["members"]}[f"{name}@example.org"] == "viewer"


def test_a_person_with_a_key_adds_the_log_in_at_the_provider(browse_at_provider, cluster, name):
    user = cluster.user()
    with browse_at_provider(user.account, OIDC_JOIN="") as browse:
        seen = browse("addition", key=user.key, user=name, email=user.email)
    assert (seen["errors"], seen["found"], seen["address"]) == ([], [], "/console/settings")
    assert [member["email"] for member in user.api.get("/team", expect=200).json()["members"]] == [user.email]
