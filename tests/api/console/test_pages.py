"""The pages in a real browser: every page, journeys of people, and what others wrote."""

import json
import re
import uuid
from dataclasses import dataclass
from datetime import date

import pytest

from lib.outside.receiver import Receiver, Sender, status, verify, webhook
from lib.scenario.fleet import REPO, SCOPES
from lib.scenario.sample import load_sample
from lib.system.cluster import User
from lib.tables import common
from lib.wait import wait_for

HOSTILE = "<img src=x onerror=\"wasRun=1\"> & 'quotes'"


@dataclass
class Reader:
    """An account with an interest whose recommendations are there."""

    user: User
    interest: str


def add_interest(user, name, context):
    """An interest with six recommendations: its id. It is inactive until it has its pool, which would otherwise bring some by itself."""
    body = {"name": name, "context": context, "is_active": False}
    interest = user.api.post("/interests", body, expect=201).json()["id"]
    wait_for(lambda: user.api.get(f"/interests/{interest}", expect=200).json()["pool_status"] == "ready", "the pool is ready")
    user.api.post(f"/interests/{interest}/toggle", expect=200)
    user.api.wait_task(user.api.post("/papers/recommended/refresh", {"interest_id": interest, "num_results": 6}, expect=202))
    return interest


@pytest.fixture(scope="module")
def papers(cluster):
    return load_sample(cluster)


@pytest.fixture
def reader(cluster, papers):
    user = cluster.user()
    interest = add_interest(user, "Retrieval", "Retrieval-augmented generation for question answering with dense retrieval.")
    return Reader(user, interest)


@pytest.fixture
def experiment(reader):
    """One with results, which came twice."""
    project = reader.user.api.post("/projects", {"name": HOSTILE, "description": HOSTILE}, expect=201).json()["id"]
    body = {"name": HOSTILE, "hypothesis": HOSTILE, "project_id": project, "pr_url": "https://example.org/a/b/pull/1", "tags": ["a"],
            "ab_test_config": {"mode": "fixed", "planned_n": 1000, "metrics": [{"key": "conversion", "kind": "proportion"}]}}  # fmt: skip
    made = reader.user.api.post("/experiments", body, expect=201).json()["id"]
    for n in (500, 1000):
        arms = [{"arm": "control", "n": n, "successes": 120}, {"arm": "treatment", "n": n, "successes": 150}]
        reader.user.api.post(f"/experiments/{made}/results", {"metrics": [{"key": "conversion", "arms": arms}]}, expect=201)
    return made


def test_every_page_is_sound(browse, reader, experiment):
    paper = reader.user.api.get("/papers/recommended", expect=200).json()[0]["resource_id"]
    project = reader.user.api.get(f"/experiments/{experiment}", expect=200).json()["project_id"]
    other = reader.user.api.post("/experiments", {"name": "Other"}, expect=201).json()["id"]
    paths = [f"interests/{reader.interest}", f"experiments/{experiment}", f"experiments/projects/{project}", f"papers/{paper}",
             f"compare?ids={experiment},{other}"]
    seen = browse("pages", key=reader.user.key, paths=paths)
    assert seen["found"] == []
    assert seen["titles"]["interests"] == "Interests – expops"
    assert seen["titles"]["no/such/page"] == "Not found – expops"


def test_every_page_of_a_new_account_is_sound(browse, cluster):
    assert browse("pages", key=cluster.user().key)["found"] == []


@pytest.fixture
def given_up(cluster):
    """The error of three tasks that svc-interests has given up."""
    error = f"not {uuid.uuid4()}"
    with cluster.postgres.connect("interests") as db:
        common.add_failed_tasks(db, "of_console", 3, error)
        yield error
        common.drop_tasks(db, "of_console")


def test_the_operator_page_is_sound(browse, cluster, given_up):
    paths = ["operator", "operator?type=event", "operator?status=all", f"operator?error={given_up}", "operator?kind=none"]
    assert browse("pages", key=cluster.user(operator=True).key, pages=paths)["found"] == []
    assert browse("pages", key=cluster.user().key, pages=["operator"])["found"] == [], "whose key may not see it is told so"


def test_an_operator_repeats_and_drops_what_was_given_up(browse, cluster, given_up):
    seen = browse("operator", key=cluster.user(operator=True).key, error=given_up, left=2)
    assert (seen["errors"], seen["address"]) == ([], f"?error={given_up.replace(' ', '+')}")
    with cluster.postgres.connect("interests") as db:
        assert sorted(task.status for task in common.tasks(db, "of_console")) == ["cancelled", "cancelled", "pending"]


@pytest.fixture
def evaluated(cluster):
    """An account with a template, a run of it that has ended, one that waits, and a build: its key, and their pages."""
    user = cluster.user()
    api = user.api
    spec = {"image": "i:1", "command": "x", "metrics": ["recall"]}
    template = api.post("/eval-env/templates", {"name": HOSTILE, "spec": spec}, expect=201).json()["template_id"]
    body = {"template_id": template, "target": "hosted", "name": HOSTILE}
    ended, waiting = (api.post("/eval-env/runs", body, expect=201).json()["run_id"] for _ in range(2))
    result = {"run_id": ended, "status": "succeeded", "metrics": {"recall": 0.71}, "results": {"text": HOSTILE}, "log": "line\n" * 200,
              "artifacts": [{"name": "report", "url": "https://example.org/report"}]}  # fmt: skip
    api.post("/eval-env/webhooks/results", result, headers={"webhook-id": ended}, expect=200)
    build = api.post("/eval-env/builds", {"repo": "acme/ranker", "ref": "main"}, expect=201).json()["build_id"]
    pages = [f"templates/{template}", f"runs/{ended}", f"runs/{waiting}", f"builds/{build}"]
    views = ["evaluations", "evaluations?view=templates", "evaluations?view=builds", "evaluations?status=queued", "evaluations?new=1"]
    return user.key, views + [f"evaluations/{page}" for page in pages]


def test_the_pages_of_evaluations_are_sound(browse, evaluated):
    key, pages = evaluated
    assert browse("pages", key=key, pages=pages)["found"] == []


def test_metrics_below_zero_are_drawn_below_zero(browse, cluster):
    api = cluster.user().api
    spec = {"image": "i:1", "command": "x", "metrics": ["gain"]}
    template = api.post("/eval-env/templates", {"name": "T", "spec": spec}, expect=201).json()["template_id"]
    for gain in (-0.5, 1.5, 0):
        run = api.post("/eval-env/runs", {"template_id": template, "target": "hosted"}, expect=201).json()["run_id"]
        result = {"run_id": run, "status": "succeeded", "metrics": {"gain": gain}}
        api.post("/eval-env/webhooks/results", result, headers={"webhook-id": run}, expect=200)
    seen = browse("chart", key=api.key, template=template, metric="gain")
    assert (seen["errors"], seen["bars"]) == ([], [[30, 10], [0, 30], [30, 0]])
    assert "lowest -0.5, highest 1.5" in seen["told"]


def test_a_template_is_made_and_run(browse, cluster):
    user = cluster.user()
    seen = browse("evaluate", key=user.key)
    assert seen["errors"] == []
    run = user.api.get(f"/eval-env/runs/{seen['address'].rpartition('/')[2]}", expect=200).json()
    assert (run["name"], run["status"]) == ("First", "cancelled")
    assert [template["locked"] for template in user.api.get("/eval-env/templates", expect=200).json()] == [True]


@pytest.fixture
def noted(cluster):
    """An account with an endpoint of each kind, one of which has failed: its key, and their pages."""
    user = cluster.user()
    with Receiver(status(500)) as receiver:
        failing = webhook(user.api, receiver.url, name=HOSTILE, digest={"hour": 8, "time_zone": "Europe/Berlin"})
        Sender(cluster, user.account).send({"text": HOSTILE})
        receiver.wait(1)
    slack, mail = ({"kind": "slack", "url": receiver.url}, {"kind": "email", "email": f"{uuid.uuid4()}@example.org"})
    others = [user.api.post("/webhooks", {"events": ["run.*"], **kind}, expect=201).json()["id"] for kind in (slack, mail)]
    page = f"settings/endpoints/{failing['id']}"
    (sent,) = wait_for(lambda: [one for one in user.api.get(f"/webhooks/{failing['id']}/deliveries", expect=200).json() if one["attempts"]])
    return user.key, ["settings", "settings?new=endpoint", page, f"{page}?delivery={sent['id']}", f"{page}?status=dropped", *(f"settings/endpoints/{id}" for id in others)]


def test_the_pages_of_endpoints_are_sound(browse, noted):
    key, pages = noted
    assert browse("pages", key=key, pages=pages)["found"] == []


def test_an_endpoint_is_made_tested_and_deleted(browse, cluster):
    user = cluster.user()
    with Receiver() as receiver:
        seen = browse("endpoint", key=user.key, address=receiver.url)
        assert (seen["errors"], seen["told"], seen["address"]) == ([], 1, "/console/settings")
        first, second = receiver.got
    assert verify(seen["secrets"][0], [first, second]) == verify(seen["secrets"][1], [second]) + ["ok"] == ["ok", "ok"]
    assert user.api.get("/webhooks", expect=200).json() == []


def test_a_message_is_sent_again_from_the_log(browse, cluster):
    user = cluster.user()
    with Receiver() as receiver:
        endpoint = webhook(user.api, receiver.url)
        Sender(cluster, user.account).send({"text": HOSTILE})
        receiver.wait(1)
        seen = browse("replay", key=user.key, endpoint=endpoint["id"])
        assert (seen["errors"], seen["body"], seen["attempts"]) == ([], receiver.bodies()[0], 2)
        receiver.wait(2)
    assert len(set(receiver.ids())) == 1


# What changes something, on the pages of an account that has some of each.
CONTROLS = {
    "New endpoint", "Edit", "Delete", "Send a test", "New key", "Look for new papers", "Like", "Save", "Dislike", "Dismiss",
    "Plan an experiment", "New interest", "Pause", "Fit the model now", "Pause the agent", "New experiment", "Add results", "New run",
    "Lock", "New interest of a repository", "Keep the key", "New feed", "Invite",
}  # fmt: skip


def test_a_key_without_the_scope_has_no_controls(browse, reader, experiment):
    api = reader.user.api
    endpoint = api.post("/webhooks", {"kind": "webhook", "url": "https://example.org/", "events": ["*"]}, expect=201).json()["id"]
    template = api.post("/eval-env/templates", {"name": "T", "spec": {"image": "i:1", "command": "x"}}, expect=201).json()["template_id"]
    pages = ["settings", f"settings/endpoints/{endpoint}", "", "interests", f"interests/{reader.interest}", "experiments",
             f"experiments/{experiment}", "evaluations", f"evaluations/templates/{template}", "connect"]  # fmt: skip
    key = api.post("/account/api-keys", {"name": "reads", "preset": "read_only"}, expect=201).json()["key"]
    seen = browse("buttons", key=key, pages=pages)
    assert seen["errors"] == [] and not CONTROLS & set(seen["buttons"])
    assert CONTROLS - set(browse("buttons", key=reader.user.key, pages=pages)["buttons"]) == set()


def test_a_budget_is_made_raised_and_deleted(browse, cluster):
    user = cluster.user()
    agent = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    report = {"run_id": 7, "repo": REPO, "status": "pr_opened", "cost_usd": 17.5}
    user.api.as_key(user.api.post("/account/api-keys", agent, expect=201).json()["key"]).post("/fleet/runs", report, expect=201)
    seen = browse("budget", key=user.key)
    (refused,) = seen["errors"]  # that it was asked for
    assert "400 (Bad Request)" in refused and seen["found"] == []
    assert [part in seen["row"] for part in ("The account", "a week", "$20.00", "$17.50", "nearly spent")] == [True] * 5
    assert user.api.get("/fleet/budgets", expect=200).json() == []


def test_each_page_leads_to_its_section_of_the_guide(browse, cluster):
    seen = browse("guide", key=cluster.user().key)
    assert (seen["errors"], seen["found"], seen["pictures"]) == ([], [], 4)
    assert seen["sections"] == seen["pages"] != []
    assert seen["address"] == "/docs/guide/glossary#scope"


def test_an_operation_is_tried_with_the_session(browse, cluster):
    user = cluster.user()
    seen = browse("docs", key=user.key)
    assert (seen["errors"], seen["found"], seen["waits"]) == ([], [], True)
    assert [each["id"] for each in user.api.get("/interests", expect=200).json()] == [seen["made"]["id"]]


def test_a_message_leads_to_its_paper(browse, reader):
    paper = reader.user.api.get("/papers/recommended", expect=200).json()[-1]
    seen = browse("message", key=reader.user.key, recommendation=paper["recommendation_id"], title=paper["title"], interest=reader.interest)
    assert (seen["errors"], seen["focused"]) == ([], paper["title"])
    assert paper["title"] in seen["planned"]

    def rated():
        all_papers = reader.user.api.get("/papers/recommended", expect=200).json()
        return {each["recommendation_id"]: each["signals"] for each in all_papers if each["signals"]}

    assert wait_for(rated, "the rating has arrived, although the page was left") == {paper["recommendation_id"]: ["like"]}


def test_papers_are_rated_by_keyboard(browse, reader):
    seen = browse("rate", key=reader.user.key)
    assert (seen["errors"], seen["kept"], seen["stays"]) == ([], ["Liked", "Disliked"], 6)
    signals = [paper["signals"] for paper in reader.user.api.get("/papers/recommended", expect=200).json()]
    assert sorted(filter(None, signals)) == [["like"]]


def test_a_rating_that_is_refused_is_told_at_its_paper_and_taken_back(browse, reader):
    """What is sent of one paper arrives in the order in which it was pressed."""
    seen = browse("refusals", key=reader.user.key)
    assert (seen["errors"], seen["found"], seen["told"]) == ([], [], [1, 0, 1])
    assert seen["sent"][: seen["sent"].index("DELETE sent")].count("POST answered") == 2
    signals = [paper["signals"] for paper in reader.user.api.get("/papers/recommended", expect=200).json()]
    assert sorted(filter(None, signals)) == [["save"]]


def test_ratings_that_wait_are_sent_when_the_page_is_left(browse, reader):
    assert browse("left", key=reader.user.key)["errors"] == []
    signals = lambda: [paper["signals"] for paper in reader.user.api.get("/papers/recommended", expect=200).json() if paper["signals"]]
    wait_for(lambda: sorted(signals()) == [["like"], ["save"]], "what was pressed last has arrived")


def test_the_title_of_today_is_the_day_of_its_papers(browse, reader):
    day = reader.user.api.get("/papers/recommended/digest", expect=200).json()["date"]
    title = browse("pages", key=reader.user.key, pages=[""])["titles"][""]
    assert title == f"{date.fromisoformat(day):%A, %B} {int(day[-2:])} (UTC) – expops"


def test_the_first_interest_is_made_on_today(browse, cluster, papers):
    seen = browse("first", key=cluster.user().key)
    assert (seen["errors"], seen["address"]) == ([], "/console/")


def test_a_paper_becomes_an_experiment(browse, reader):
    seen = browse("plan", key=reader.user.key)
    assert seen["errors"] == []
    made = reader.user.api.get(f"/experiments/{seen['address'].rpartition('/')[2]}", expect=200).json()
    assert (made["name"], made["status"], made["source_type"]) == ("From the console", "running", "arxiv_paper")


def test_a_paper_with_a_long_title_becomes_an_experiment(browse, reader):
    """Characters beyond the basic plane, of which mathematics has many, are two units of JavaScript's text."""
    title = "a" * 199 + "\U0001d53c" * 302
    assert browse("titled", key=reader.user.key, title=title) == {"errors": []}
    assert [each["name"] for each in reader.user.api.get("/experiments", expect=200).json()] == [title[:500]]


def test_a_project_groups_experiments_and_is_deleted_without_them(browse, cluster):
    user = cluster.user()
    seen = browse("project", key=user.key)
    assert seen["errors"] == []
    kept = user.api.get(f"/experiments/{seen['address'].rpartition('/')[2]}", expect=200).json()
    assert (kept["name"], kept["project_id"]) == ("Shorter titles", None)
    assert user.api.get("/projects", expect=200).json() == []


def test_the_page_comes_back_after_another_log_in(browse, cluster):
    user = cluster.user()
    user.api.post("/experiments", {"name": "Of the former", "status": "running"}, expect=201)
    seen = browse("ended", key=user.key, other=cluster.user().key, name="Of the former")
    assert (seen["errors"], seen["address"], seen["shown"]) == ([], "?status=draft", 0)


def test_the_model_is_fitted_to_papers_rated_by_keyboard(browse, reader):
    seen = browse("refit", key=reader.user.key, interest="Retrieval")
    assert (seen["errors"], seen["found"]) == ([], [])
    assert seen["fitted"] == "It learned from 4 ratings and outcomes, 3 of them good."
    assert "of 100 pairs it puts the liked paper first in" in seen["quality"]


def test_ten_ratings_teach_and_the_page_says_what(browse, reader):
    add_interest(reader.user, "Attention", "Attention for long sequences that needs less memory: sparse, linear, IO-aware kernels.")
    add_interest(reader.user, "Images", "Diffusion models and transformers that generate images from text.")
    digest = reader.user.api.get("/papers/recommended/digest", params={"limit": 10}, expect=200).json()
    names = [interest["name"] for interest in digest["interests"] for _ in interest["recommendations"]]
    taught, last = set(names[:10]), names[-1]
    assert last not in taught
    seen = browse("learn", key=reader.user.key, last=last)
    assert (seen["errors"], seen["found"], seen["fits"]) == ([], [], len(taught))
    assert re.search(r"It learned from [0-9]+ ratings and outcomes, [0-9]+ of them good\.", seen["lesson"]) and "More of:" in seen["lesson"]


@pytest.fixture
def failed_run(cluster):
    """The key of an account that has a failed run with the number 7, whose report is hostile."""
    api = cluster.user().api
    agent = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    report = {"run_id": 7, "repo": REPO, "status": "failed", "error": HOSTILE, "test_status": "failed", "artifact_url": "javascript:alert(1)"}
    api.as_key(api.post("/account/api-keys", agent, expect=201).json()["key"]).post("/fleet/runs", report, expect=201)
    return api.key


def test_a_failed_run_says_why(browse, failed_run):
    seen = browse("run", key=failed_run, error=HOSTILE)
    assert (seen["errors"], seen["found"], seen["wasRun"]) == ([], [], False)
    assert all(link.startswith(("/console/", "/docs", "#")) for link in seen["links"])


def test_the_page_of_an_experiment_shows_its_result(browse, reader, experiment):
    seen = browse("result", key=reader.user.key, experiment=experiment)
    assert (seen["errors"], seen["dots"], seen["earlier"]) == ([], 1, 1)
    assert [part in seen["row"] for part in ("conversion", "treatment", "1,000", "+25%", "+0.0294% to +56.3%")] == [True] * 5


def test_the_way_from_a_paper_to_a_decision_is_walked(browse, reader):
    """What a run wrote of the papers that it passed over stays text."""
    api = reader.user.api
    best = api.get("/papers/recommended", expect=200).json()[0]
    paper, others = best["resource_id"], ["2301.00001", "2301.00002"]
    agent = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    report = {"run_id": 7, "repo": REPO, "status": "skipped_old", "arxiv_id": paper, "recommendation_id": best["recommendation_id"],
              "selection_rejected": [{"arxiv_id": other, "reason": HOSTILE} for other in others]}  # fmt: skip
    body = {"name": "E", "source_type": "arxiv_paper", "source_ref": paper, "launch_context": {"target_repo": REPO}}
    made = api.post("/experiments", body, expect=201).json()["id"]
    api.as_key(api.post("/account/api-keys", agent, expect=201).json()["key"]).post("/fleet/runs", report, expect=201)
    api.put(f"/experiments/{made}", {"outcome": "ship", "decision": HOSTILE}, expect=200)
    kept = f"/experiments/{made}/evidence?at=decision"
    digest = wait_for(lambda: api.get(kept).json().get("digest"), "the evidence of the decision is kept")
    seen = browse("way", key=reader.user.key, experiment=made, title=best["title"])
    assert (seen["errors"], seen["found"], seen["wasRun"]) == ([], [], False)
    assert [stop.split(" ")[0] for stop in seen["stops"]] == ["Paper", "Recommended", "Selection", "Run", "Decision"]
    assert best["title"] in seen["stops"][0] and f"ship: {HOSTILE}" in seen["stops"][4]
    assert ["inferred" in stop for stop in seen["stops"]] == [False, False, False, True, False] and f"{REPO} 7" in seen["stops"][3]
    assert len(seen["passed"]) == 2 and all(HOSTILE in line for line in seen["passed"]) and seen["tables"] == 3
    page, provenance = seen["files"]
    assert page.startswith("# Evidence: `E`\n") and digest in page
    assert json.loads(provenance)["entity"][f"id:{made}"]["expops:digest"] == digest


def test_results_are_added_from_a_file_and_what_they_propose_is_accepted(browse, cluster):
    user = cluster.user()
    plan = {"alpha": 0.0125, "metrics": [{"key": "accuracy", "kind": "proportion"}]}
    made = user.api.post("/experiments", {"name": "Tiles", "ab_test_config": plan}, expect=201).json()["id"]
    lines = [f'{arm},"q ""{i}""",{right},"a\nb"' for i in range(20) for arm, right in (("control", int(i > 8)), ("treatment", 1))]
    refused = [("example,accuracy\n1,1", "no column “arm”"), ("arm,accuracy\n\ncontrol,yes", "Line 3: “accuracy” is no number: yes"),
               ('arm,accuracy\n"control,1', "Line 2: a quote"), ("arm,accuracy\ncontrol,1,1", "Line 2: there are 3 cells"),
               ("arm,accuracy\nb\u00e4se,1\nb\u00f6se,1", "no text in UTF-8", "latin1"),
               ("arm,example,accuracy\nthird,1,1", "rows[0].arm")]  # fmt: skip
    file = "\ufeff" + "\r\n".join(["arm,example,accuracy,note", *lines, ""])
    seen = browse("results", key=user.key, experiment=made, refused=refused, file=file)
    (refused_by_the_service,) = seen["errors"]
    assert "400 (Bad Request)" in refused_by_the_service and seen["found"] == []
    assert all(word in seen["effects"] for word in ("accuracy", "treatment", "98.75% interval"))
    decided = user.api.get(f"/experiments/{made}", expect=200).json()
    assert (decided["delta_confidence"], decided["outcome"], decided["decision"]) == ("significant", "ship", None)


def test_experiments_are_compared(browse, cluster):
    user, made = cluster.user(), []
    plan = {"mode": "fixed", "planned_n": 1000, "metrics": [{"key": "conversion", "kind": "proportion"}]}
    for name, successes in (("First", 150), ("Second", 121)):
        made.append(user.api.post("/experiments", {"name": name, "ab_test_config": plan}, expect=201).json()["id"])
        arms = [{"arm": "control", "n": 1000, "successes": 120}, {"arm": "treatment", "n": 1000, "successes": successes}]
        user.api.post(f"/experiments/{made[-1]}/results", {"metrics": [{"key": "conversion", "arms": arms}]}, expect=201)
    seen = browse("compare", key=user.key, names=["First", "Second"])
    assert (seen["errors"], seen["found"]) == ([], [])
    assert "+25%" in seen["rows"][1] and "significant" in seen["rows"][1] and "inconclusive" in seen["rows"][2]
    assert "verdict" in seen["fields"] and "hypothesis" not in seen["fields"]
    assert all(id in seen["file"] for id in made) and seen["file"].startswith("id,name,")
    assert seen["address"] == f"?ids={','.join(made)}"


def test_a_run_is_asked_about(browse, failed_run):
    seen = browse("question", key=failed_run)
    assert seen["errors"] == [] and HOSTILE in seen["reply"]


def test_pages_of_other_origins_gain_nothing(browse, cluster):
    user = cluster.user()
    seen = browse("attack", key=user.key)
    assert (seen["framed"], seen["status"]) == (0, 401)  # the browser withholds the cookie
    assert user.api.get("/interests", expect=200).json() == []


def test_what_others_wrote_stays_text(browse, reader, experiment):
    reader.user.api.put(f"/experiments/{experiment}", {"pr_url": "https://example.org/javascript:alert(1)"}, expect=200)
    seen = browse("hostile", key=reader.user.key, experiment=experiment, name=HOSTILE)
    assert (seen["errors"], seen["wasRun"]) == ([], False)
    assert all(link.startswith(("/console/", "/docs", "#", "https://")) for link in seen["links"])


def test_the_app_is_made_installed_and_connected(browse_connecting, cluster, code_host):
    """By a person in a browser, from no app to a connected account."""
    login = code_host.user().login
    code_host.repository(login)
    seen = browse_connecting("connect", key=cluster.user(operator=True).key, login=login)
    assert (seen["errors"], seen["found"]) == ([], [])
    assert seen["address"] == "/console/connect/installed"  # what works once is not kept in the address
