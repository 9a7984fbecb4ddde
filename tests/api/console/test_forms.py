"""Forms: what they send, and what they say while others change the same things."""

import uuid

from lib.http import plain_http
from lib.http.identity import identity
from lib.scenario.budgets import OBEYS
from lib.scenario.fleet import REPO, SCOPES
from lib.wait import wait_for

TAGS = ["fast & small", "cs.CL", "two  blanks"]


def test_who_edits_what_another_changed_is_told_and_loses_nothing_of_theirs(browse, cluster):
    api = cluster.user().api
    made = api.post("/experiments", {"name": "E", "tags": TAGS, "hypothesis": "First"}, expect=201).json()["id"]
    seen = browse("edits", key=api.key, experiment=made)
    assert (seen["errors"], seen["found"], seen["isIdle"]) == ([], [], True)
    assert (seen["tags"], seen["shown"]) == (TAGS, ["Mine", "Mine", "Theirs"])
    kept = api.get(f"/experiments/{made}", expect=200).json()
    assert [kept[name] for name in ("name", "hypothesis", "decision", "tags")] == ["Mine", "Mine", "Theirs", TAGS]


def test_a_weak_tag_names_the_version(browse, cluster):
    api = cluster.user().api
    made = api.post("/experiments", {"name": "E"}, expect=201).json()["id"]
    seen = browse("weak", key=api.key, experiment=made)
    assert seen["errors"] == [] and seen["tags"][0].startswith('W/"')
    assert api.get(f"/experiments/{made}", expect=200).json()["name"] == "Mine"


def add_endpoint(api, **values):
    return api.post("/webhooks", {"kind": "webhook", "url": "https://example.org/", "events": ["run.*"], **values}, expect=201).json()["id"]


def test_what_comes_to_the_same_is_not_saved(browse, cluster):
    api = cluster.user().api
    experiment = api.post("/experiments", {"name": "E", "tags": TAGS}, expect=201).json()["id"]
    spec = {"image": "i:1", "command": "x"}
    template = api.post("/eval-env/templates", {"name": "T", "spec": spec}, expect=201).json()["template_id"]
    endpoint = add_endpoint(api)
    things = [{"path": f"experiments/{experiment}", "label": "Tags, one a line", "add": "\n"},
              {"path": f"evaluations/templates/{template}", "label": "What is evaluated, as JSON", "add": "\n"},
              {"path": f"settings/endpoints/{endpoint}", "label": "Types of messages", "add": " "}]  # fmt: skip
    assert browse("same", key=api.key, things=things)["errors"] == []


def test_an_endpoint_keeps_a_name(browse, cluster):
    api = cluster.user().api
    endpoint = add_endpoint(api, name="Hook")
    assert browse("nameless", key=api.key, endpoint=endpoint) == {"errors": [], "isMissing": True}
    assert api.get(f"/webhooks/{endpoint}", expect=200).json()["name"] == "Renamed"


def test_what_two_change_at_once_is_told_at_its_field(browse, cluster):
    """A schedule, which is part of its interest; a budget and a digest, which are saved as a whole and have no version."""
    api = cluster.user().api
    interest = api.post("/interests", {"name": "I", "context": "Retrieval."}, expect=201).json()["id"]
    weekly = {"every": "weekly", "weekday": 1, "hour": 7, "minute": 0, "time_zone": "UTC"}
    api.put(f"/interests/{interest}", {"schedule": weekly}, expect=200)
    budget = {"scope": "account", "period": "month", "usd": 100, "action": "warn"}
    api.put("/fleet/budgets", budget, expect=200)
    endpoint = add_endpoint(api, digest={"hour": 8, "time_zone": "Europe/Berlin"})
    seen = browse("overlapping", key=api.key, interest=interest, budget=budget, endpoint=endpoint)
    assert (seen["errors"], seen["found"]) == ([], [])
    assert api.get(f"/interests/{interest}", expect=200).json()["schedule"] == {**weekly, "weekday": 2, "hour": 9, "minute": 30}
    (kept,) = api.get("/fleet/budgets", expect=200).json()
    assert (kept["usd"], kept["action"], kept["time_zone"]) == (120, "stop", "Asia/Tokyo")
    digest = api.get(f"/webhooks/{endpoint}", expect=200).json()["digest"]
    assert (digest["hour"], digest["minute"], digest["time_zone"]) == (9, 30, "Asia/Tokyo")


def test_a_digest_that_was_sent_is_not_a_change(browse, cluster):
    api = cluster.user().api
    endpoint = add_endpoint(api, digest={"hour": 8, "time_zone": "Europe/Berlin"})
    assert browse("sent", key=api.key, endpoint=endpoint) == {"errors": []}
    digest = api.get(f"/webhooks/{endpoint}", expect=200).json()["digest"]
    assert (digest["hour"], digest["minute"]) == (9, 30)


def test_what_is_typed_outlives_the_session(browse, cluster):
    api = cluster.user().api
    made = api.post("/experiments", {"name": "E"}, expect=201).json()["id"]
    seen = browse("interrupted", key=api.key, other=cluster.user().key, experiment=made)
    assert (seen["errors"], seen["found"], seen["typed"], seen["isFocused"]) == ([], [], "Mine", True)
    assert api.get(f"/experiments/{made}", expect=200).json()["hypothesis"] == "Mine"


def test_a_program_fills_and_submits_at_once(browse, cluster):
    assert browse("filled", key=cluster.user().key)["errors"] == []


def test_a_description_is_changed_beside_a_name(browse, cluster):
    api = cluster.user().api
    project = api.post("/projects", {"name": "P"}, expect=201).json()["id"]
    template = api.post("/eval-env/templates", {"name": "T", "spec": {"image": "i:1", "command": "x"}}, expect=201).json()["template_id"]
    things = [[f"experiments/projects/{project}", f"/projects/{project}"],
              [f"evaluations/templates/{template}", f"/eval-env/templates/{template}"]]  # fmt: skip
    assert browse("renamed", key=api.key, things=things)["errors"] == []
    for _, path in things:
        kept = api.get(path, expect=200).json()
        assert (kept["name"], kept["description"]) == ("Theirs", "Mine")


def test_an_interest_is_paused_once_and_loses_its_repository(browse, cluster):
    api = cluster.user().api
    body = {"name": "I", "context": "Retrieval.", "source_repo_url": "https://example.org/a/b"}
    path = f"/interests/{api.post('/interests', body, expect=201).json()['id']}"
    wait_for(lambda: api.get(path, expect=200).json()["pool_status"] in ("ready", "failed"), "the pool is made")
    seen = browse("interest", key=api.key, interest=path.rpartition("/")[2])
    assert (seen["errors"], seen["computing"]) == ([], 0)
    kept = api.get(path, expect=200).json()
    assert (kept["is_active"], kept["source_repo_url"]) == (False, None)


def test_a_new_budget_replaces_none(browse, cluster):
    api = cluster.user().api
    budget = {"scope": "account", "period": "month", "usd": 100, "action": "stop"}
    api.put("/fleet/budgets", budget, expect=200)
    seen = browse("replaced", key=api.key)
    assert (seen["errors"], seen["found"], seen["isOffered"]) == ([], [], False)
    assert sorted((each["usd"], each["action"]) for each in api.get("/fleet/budgets", expect=200).json()) == [(70, "warn"), (100, "stop")]


def test_a_budget_begins_in_the_time_zone_of_the_browser(browse, cluster):
    """Under the name that it has in the database of time zones: browsers tell an old one, which Debian 13 has in a package of its own."""
    api = cluster.user().api
    assert browse("zone", key=api.key, zone="Asia/Kolkata") == {"errors": [], "named": "Asia/Calcutta"}
    assert [each["time_zone"] for each in api.get("/fleet/budgets", expect=200).json()] == ["Asia/Kolkata"]


def test_what_is_taken_of_a_budget_is_shown_in_its_measure(browse, cluster):
    """What is reserved of 50 dollars a month is taken, and half a dollar a day, all of which is spent, is a full bar."""
    api = cluster.user().api
    for period, usd in (("month", 50), ("day", 0.5)):
        api.put("/fleet/budgets", {"scope": "account", "period": period, "usd": usd, "action": "stop" if usd > 1 else "warn"}, expect=200)
    key = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    agent = api.as_key(api.post("/account/api-keys", key, expect=201).json()["key"])
    agent.post("/fleet/runs", {"run_id": 7, "repo": REPO, "status": "pr_opened", "cost_usd": 4}, expect=201)
    asked = {"run_id": 8, "run_attempt": 1, "repo": REPO, **OBEYS}
    reserved = agent.post("/fleet/runs/admit", asked, expect=200).json()["max_usd"]
    seen = browse("taken", key=api.key)
    assert seen == {"errors": [], "told": f"There is one already: $50.00 a month, of which ${4 + reserved:.2f} are spent and reserved.",
                    "bars": [[0.5, 0.5], [0.5, 0.5]]}  # fmt: skip


def test_a_score_that_is_no_number_makes_no_feed(browse, cluster):
    api = cluster.user().api
    assert browse("feed", key=api.key)["errors"] == []
    assert [feed["min_score"] for feed in api.get("/papers/recommended/feeds", expect=200).json()] == [0.7]


def test_a_run_that_cannot_start_or_succeed_is_told_so(browse, cluster):
    user = cluster.user()
    installed = {"repo": REPO, "agent": "agent_one", "provider": "anthropic", "key_id": str(uuid.uuid4())}
    sender = identity(cluster, "svc-fleet", "service", account=user.account)
    assert plain_http.post(f"{cluster.url('svc-fleet')}/internal/fleet/installations", json=installed, auth=sender).status_code == 200
    seen = browse("starts", key=user.key, repo=REPO)
    assert seen["errors"] == []
    assert "papers are being searched for" in seen["refused"] and "no key of the model provider" in seen["warned"]
