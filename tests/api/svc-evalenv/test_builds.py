"""Builds: what they are made of, claims of workers, leases, reports, cancelling, and equal builds."""

import uuid

import pytest

from lib.http import plain_http
from lib.http.api_def import scope_mask
from lib.http.identity import identity
from lib.tables import evalenv as evalenv_tables
from lib.wait import PATIENCE_SECONDS, wait_for

PATH = "/eval-env/builds"
FILE = "FROM scratch\nCOPY evaluate /\n"
COMMIT = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture
def build(api):
    """build(**members): a new build."""

    def make(of=api, **members):
        return of.post(PATH, members or {"containerfile": FILE, "no_cache": True}, expect=201).json()

    return make


def report(worker, claim, status, expect=200, **members):
    body = {"attempt": claim["attempt"], "status": status, **members}
    return worker.post(f"{PATH}/{claim['build']['build_id']}/report", body, expect=expect).json()


def heartbeat(worker, claim, expect=200, **members):
    body = {"attempt": claim["attempt"], **members}
    return worker.post(f"{PATH}/{claim['build']['build_id']}/heartbeat", body, expect=expect).json()


def test_a_build_from_queue_to_image(api, build, claim_build):
    made = build(containerfile=FILE, build_args={"VERSION": "2"})
    assert (made["status"], made["source"], made["attempts"]) == ("queued", "containerfile", 0)
    claimed = claim_build()
    assert (claimed["build"]["build_id"], claimed["build"]["status"]) == (made["build_id"], "building")
    assert (claimed["attempt"], claimed["build"]["worker"]) == (1, "test")
    assert (claimed["context"]["containerfile"], claimed["context"]["build_args"]) == (FILE, {"VERSION": "2"})
    assert claimed["context"] == api.get(f"{PATH}/{made['build_id']}/context", expect=200).json()
    beat = heartbeat(api, claimed, log="STEP 1\n")
    assert beat["lease_until"] >= claimed["lease_until"] and not beat["cancelled"]
    ended = report(api, claimed, "succeeded", image="i:1", digest="sha256:1", log="STEP 2\n")
    assert (ended["status"], ended["image"], ended["log_tail"]) == ("succeeded", "i:1", "STEP 1\nSTEP 2\n")
    assert api.get(f"{PATH}/{made['build_id']}", expect=200).json() == ended


def test_the_list_has_no_logs_and_filters(api, build, claim_build, other_user):
    first, second = build(containerfile=FILE, build_args={"NUMBER": "1"}), build(containerfile=FILE, build_args={"NUMBER": "2"})
    heartbeat(api, claim_build(), log="STEP 1\n")
    newest = api.get(PATH, params={"limit": 2}, expect=200)
    assert [(each["build_id"], each["status"], each["log_length"]) for each in newest.json()] == [
        (second["build_id"], "queued", 0), (first["build_id"], "building", 7)]  # fmt: skip
    assert int(newest.headers["X-Total-Count"]) >= 2
    assert [each["build_id"] for each in api.get(f"{PATH}?status=building").json()] == [first["build_id"]]
    assert other_user.api.get(PATH, expect=200).json() == []
    api.problem("GET", f"{PATH}?status=running", 400, "invalid_request")


def test_a_limited_key_lists_the_builds_of_its_repository(api, build):
    build(repo="acme/ranker"), build(repo="acme/other"), build()
    key = api.post("/account/api-keys", {"name": "r", "kind": "automation", "repo": "Acme/Ranker", "scopes": ["eval:read"]}, expect=201).json()
    assert {each["repo"] for each in api.as_key(key["key"]).get(PATH, expect=200).json()} == {"acme/ranker"}


@pytest.fixture
def template_with(api):
    """template_with(env): a new template with these environment variables; returns its id."""

    def make(env):
        body = {"name": f"template {uuid.uuid4()}", "spec": {"image": "i:1", "env": env}}
        return api.post("/eval-env/templates", body, expect=201).json()["template_id"]

    return make


def test_builds_with_equal_variables_are_equal(build, claim_build, api, template_with):
    what = {"containerfile": FILE + "# variables\n", "template_id": template_with({"A": "1", "B": "2"})}
    build(**what)
    report(api, claim_build(), "succeeded", image="i:1")
    assert build(**{**what, "template_id": template_with({"B": "2", "A": "1"})})["status"] == "succeeded"
    assert build(**{**what, "template_id": template_with({"A": "1"})})["status"] == "queued"


def test_an_equal_build_has_the_image_at_once(api, build, claim_build, other_user, template_with):
    def is_known(**members):
        made = build(**members)
        if made["status"] != "queued":
            assert (made["image"], made["attempts"]) == ("i:1", 0)
        return made["status"] == "succeeded"

    what = {"containerfile": FILE, "repo": "acme/ranker", "ref": COMMIT, "build_args": {"A": "1", "B": "2"}}
    build(**what)
    report(api, claim_build(), "succeeded", image="i:1")
    assert is_known(**what) and is_known(**{**what, "build_args": {"B": "2", "A": "1"}})
    assert not is_known(**{**what, "build_args": {"A": "2"}})
    assert not is_known(**{**what, "containerfile": FILE + "\n"})
    assert not is_known(**what, no_cache=True)
    assert not is_known(**what, template_id=template_with({"MODE": "fast"}))
    assert other_user.api.post(PATH, what, expect=201).json()["status"] == "queued"


def test_a_branch_moves_so_its_builds_are_not_equal(api, build, claim_build):
    for _ in range(2):
        assert build(repo="acme/ranker", ref="main")["status"] == "queued"
        report(api, claim_build(), "succeeded", image="i:1")


INVALID = {
    "nothing": ({}, {"body"}),
    "paper and repository": ({"arxiv_id": "2205.14135", "repo": "a/b"}, {"arxiv_id"}),
    "no repository": ({"repo": "some words"}, {"repo"}),
    "a path": ({"repo": "/srv/repo"}, {"repo"}),
    "an address without a host": ({"repo": "https:///repo"}, {"repo"}),
    "an address of another scheme": ({"repo": "file:///srv/repo"}, {"repo"}),
    "a command": ({"repo": "ext::sh -c evil"}, {"repo"}),
    "newline": ({"containerfile": FILE, "build_args": {"A\nRUN evil": "1"}}, {"build_args"}),
    "name": ({"containerfile": FILE, "build_args": {"A=B": "1"}}, {"build_args"}),
    "option": ({"containerfile": FILE, "build_args": {"--x": "1"}}, {"build_args"}),
    "number": ({"containerfile": FILE, "build_args": {"A": 1}}, {"build_args"}),
    "large": ({"containerfile": "x" * (512 << 10)}, {"containerfile"}),
    "template": ({"containerfile": FILE, "template_id": str(uuid.uuid4())}, {"template_id"}),
}


@pytest.mark.parametrize("case", INVALID)
def test_invalid_builds(api, case):
    body, fields = INVALID[case]
    faults = api.problem("POST", PATH, 400, "invalid_request", body)["errors"]
    assert {fault["field"] for fault in faults} == fields


def test_a_container_file_of_a_megabyte_is_refused(api):
    api.problem("POST", PATH, 413, "content_too_large", {"containerfile": "x" * (1 << 20)})


def test_a_paper_brings_its_container_file(api, build, operator_api):
    paper = {"title": "Built", "containerfile": FILE, "environment_vars": {"A": "1"}}
    operator_api.put("/search/assets/2401.00001", paper, expect=200)
    made = build(arxiv_id="2401.00001")
    assert made["source"] == "arxiv_id"
    context = api.get(f"{PATH}/{made['build_id']}/context", expect=200).json()
    assert (context["containerfile"], context["environment_vars"]) == (FILE, {"A": "1"})
    assert context["asset"]["title"] == "Built"
    api.problem("POST", PATH, 404, "not_found", {"arxiv_id": "2401.99999"})


def test_the_catalogue_gets_the_outcome_of_a_key_that_may(api, build, claim_build, operator_api):
    """Any other build stays its account's."""
    path = "/search/assets/2401.00002"
    operator_api.put(path, {"title": "Shared", "containerfile": FILE + "# shared"}, expect=200)
    build(arxiv_id="2401.00002")
    report(api, claim_build(), "succeeded", image="private:1")
    build(of=operator_api, arxiv_id="2401.00002")
    claimed = None
    while not claimed or claimed["build"]["arxiv_id"] != "2401.00002":
        claimed = operator_api.post(f"{PATH}/claim", {"worker": "w"}, expect=200).json()
    report(operator_api, claimed, "succeeded", image="shared:1")
    shown = wait_for(lambda: (now := api.get(path).json())["container_status"] == "ready" and now, "the catalogue has it")
    assert (shown["container_image"], shown["has_container"]) == ("shared:1", True)


def test_a_build_that_fails_after_another_has_succeeded_takes_no_image_away(operator_api, build):
    path = "/search/assets/2401.00003"
    operator_api.put(path, {"title": "Shared", "containerfile": FILE + "# twice"}, expect=200)
    made = {build(of=operator_api, arxiv_id="2401.00003", no_cache=True)["build_id"] for _ in range(2)}
    claims = {}
    while not made <= set(claims):
        claimed = operator_api.post(f"{PATH}/claim", {"worker": "w"}, expect=200).json()
        claims[claimed["build"]["build_id"]] = claimed
    first, second = sorted(made)
    report(operator_api, claims[first], "succeeded", image="shared:1")
    wait_for(lambda: operator_api.get(path).json()["container_status"] == "ready", "the catalogue has it")
    tasks = lambda: [task["status"] for task in operator_api.get("/tasks", params={"kind": "asset_update"}, expect=200).json()]
    wait_for(lambda: set(tasks()) == {"completed"}, "the first is told of")
    before = len(tasks())
    report(operator_api, claims[second], "failed", error={"kind": "task", "message": "exit 1"})
    wait_for(lambda: tasks() == ["completed"] * (before + 1), "the second is told of")
    assert operator_api.get(path).json()["container_status"] == "ready"


def test_waiting_builds_of_an_account_are_bounded(bounded, build, claim_build, other_user):
    bounds = bounded(WORK_WAITING_MAX="2")
    what = {"containerfile": FILE, "no_cache": True}
    answers = [bounds.post(PATH, what) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert "too many builds of this account are waiting" in answers[-1].json()["detail"]
    assert bounds.post(PATH, what, user=other_user).status_code == 201
    claim_build()
    assert bounds.post(PATH, what).status_code == 201


def test_an_equal_build_does_not_wait(api, bounded, build, claim_build):
    what = {"containerfile": FILE + "# equal\n"}
    build(**what)
    report(api, claim_build(), "succeeded", image="i:1")
    bounds = bounded(WORK_WAITING_MAX="1")
    build()
    assert bounds.post(PATH, {**what, "no_cache": True}).status_code == 409
    assert bounds.post(PATH, what).json()["status"] == "succeeded"


def test_requests_together_do_not_exceed_a_bound(bounded, at_once):
    bounds = bounded(WORK_WAITING_MAX="3")
    answers = at_once(8, lambda _: bounds.post(PATH, {"containerfile": FILE, "no_cache": True}))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 5


# ---- workers ----


def test_nothing_waits(api):
    answer = api.post(f"{PATH}/claim", {"worker": "test"}, expect=204)
    assert answer.content == b""
    api.post(f"{PATH}/claim", {"worker": "test", "wait_seconds": 1}, expect=204)


@pytest.fixture
def waiting_claims(cluster, user, at_once):
    """waiting_claims(then, *repos): claims of keys that are limited to repositories (None: to none) at a replica where claims never look by
    themselves and four may wait, which wait in this order, and `then(claim)` called while they do: all results."""
    one = cluster.separate("svc-evalenv", "patient", WORK_LOOK_AGAIN="1h", CLAIMS_WAITING_MAX="4", WORKERS="1")
    one.start()
    one.wait_ready()

    def when(waiting, then):
        wait_for(lambda: one.metric("expops_claims_waiting") == waiting, f"{waiting} claims wait")
        return then()

    def claim(repo, account=user.account, seconds=10):
        sender = identity(cluster, "svc-evalenv", account=account, scopes=scope_mask("eval:report"), repo=repo)
        body = {"worker": "w", "wait_seconds": seconds}
        return plain_http.post(f"{one.url}/api/v1.0{PATH}/claim", json=body, auth=sender, timeout=PATIENCE_SECONDS)

    def ask(then, *repos):
        steps = [*(lambda repo=repo: claim(repo) for repo in repos), lambda: then(claim)]
        return at_once(len(steps), lambda number: when(number, steps[number]))

    yield ask
    one.stop()
    assert one.check() == []


def test_a_waiting_claim_gets_what_is_queued(waiting_claims, build):
    claimed, made = waiting_claims(lambda _: build(), None)
    assert claimed.status_code == 200, claimed.text
    assert claimed.json()["build"]["build_id"] == made["build_id"]


def test_a_claim_for_one_repository_keeps_no_other_from_its_work(waiting_claims, build):
    """It waits before the other, and is the one that a notification wakes."""
    *in_vain, claimed, made = waiting_claims(lambda _: build(), "acme/one", "acme/two", "ACME/one", None)
    assert [answer.status_code for answer in in_vain] == [204] * 3
    assert claimed.status_code == 200, claimed.text
    assert claimed.json()["build"]["build_id"] == made["build_id"]


def test_the_waiting_claims_of_an_account_are_bounded(waiting_claims, build, other_user):
    def more(claim):
        answers = [claim(None), claim(None, seconds=0), claim(None, other_user.account, seconds=1)]
        return answers, build()

    *waiting, (answers, made) = waiting_claims(more, *[None] * 4)
    assert [answer.status_code for answer in answers] == [429, 204, 204]
    assert answers[0].headers["Retry-After"] and "too many claims" in answers[0].json()["detail"]
    assert sorted(answer.status_code for answer in waiting) == [200, 204, 204, 204]
    assert [answer.json()["build"]["build_id"] for answer in waiting if answer.content] == [made["build_id"]]


def test_each_build_is_claimed_once(api, build, at_once):
    ids = {build()["build_id"] for _ in range(12)}
    answers = at_once(16, lambda _: api.post(f"{PATH}/claim", {"worker": "w"}))
    claimed = [answer.json()["build"]["build_id"] for answer in answers if answer.status_code == 200]
    assert len(claimed) == 12 and set(claimed) == ids


def test_a_worker_gets_builds_of_its_account_only(build, other_user):
    build()
    other_user.api.post(f"{PATH}/claim", {"worker": "w"}, expect=204)


def test_claims_of_all_accounts_take_turns(api, build, other_user, operator_api):
    def claim():
        answer = operator_api.post(f"{PATH}/claim", {"worker": "w"})
        return answer.json()["build"]["build_id"] if answer.status_code == 200 else None

    while claim():  # what other tests have left
        pass
    mine = [build()["build_id"] for _ in range(4)]
    theirs = build(of=other_user.api)["build_id"]
    order = [one for one in (claim() for _ in range(8)) if one in (*mine, theirs)]
    assert order.index(theirs) <= 1 and [one for one in order if one != theirs] == mine


@pytest.fixture
def shared_claims(bounded, operator_api):
    """shared_claims(**settings): a function that claims the next build of all accounts at a replica of its own: its id, or None."""
    while operator_api.post(f"{PATH}/claim", {"worker": "w"}).status_code == 200:  # what other tests have left
        pass

    def start(**settings):
        bounds = bounded(**settings)

        def claim():
            answer = bounds.post(f"{PATH}/claim", {"worker": "w"}, scopes="eval:report service:any_user")
            return answer.json()["build"]["build_id"] if answer.status_code == 200 else None

        return claim

    return start


def test_the_account_of_which_workers_have_the_fewest_is_next(shared_claims, build, other_user):
    claim = shared_claims()
    mine = [build()["build_id"] for _ in range(3)]
    assert [claim(), claim()] == mine[:2]
    theirs = [build(of=other_user.api)["build_id"] for _ in range(3)]
    assert [claim() for _ in range(5)] == [*theirs[:2], mine[2], theirs[2], None]


def test_an_account_has_a_bound_of_the_workers_of_all(shared_claims, api, build, other_user, at_once):
    claim = shared_claims(WORK_SHARED_MAX="2")
    mine = [build()["build_id"] for _ in range(4)]
    claimed = at_once(6, lambda _: claim())
    assert sorted(filter(None, claimed)) == sorted(mine[:2])
    theirs = build(of=other_user.api)["build_id"]
    assert [claim(), claim()] == [theirs, None]
    api.post(f"{PATH}/{mine[0]}/cancel", expect=200)
    assert [claim(), claim()] == [mine[2], None]


def test_another_worker_cannot_report(api, build, claim_build, other_user):
    build()
    claimed = claim_build()
    path = f"{PATH}/{claimed['build']['build_id']}"
    body = {"attempt": 1, "status": "succeeded", "image": "evil"}
    other_user.api.problem("POST", f"{path}/report", 404, "not_found", body)
    other_user.api.problem("POST", f"{path}/heartbeat", 404, "not_found", {"attempt": 1})
    other_user.api.problem("GET", path, 404, "not_found")
    other_user.api.problem("GET", f"{path}/context", 404, "not_found")
    other_user.api.problem("POST", f"{path}/cancel", 404, "not_found")
    report(api, {**claimed, "attempt": 2}, "succeeded", 409, image="late")


def test_a_build_that_nobody_has_claimed_takes_a_report_without_an_attempt(api, build):
    path = f"{PATH}/{build()['build_id']}"
    begun = api.post(f"{path}/report", {"status": "building", "log": "STEP 1\n"}, expect=200).json()
    assert (begun["status"], begun["worker"], begun["log_tail"]) == ("building", None, "STEP 1\n")
    assert begun["started_at"]
    api.post(f"{PATH}/claim", {"worker": "test"}, expect=204)
    done = {"status": "succeeded", "image": "i:1", "digest": "sha256:1", "log": "STEP 2\n"}
    ended = api.post(f"{path}/report", done, expect=200).json()
    assert (ended["status"], ended["image"], ended["log_tail"]) == ("succeeded", "i:1", "STEP 1\nSTEP 2\n")
    assert api.post(f"{path}/report", done, expect=200).json() == ended
    api.problem("POST", f"{path}/report", 409, "conflict", {**done, "image": "i:2"})
    api.problem("POST", f"{path}/report", 409, "conflict", {"status": "failed"})
    api.problem("POST", f"{path}/report", 409, "conflict", {**done, "attempt": 1})


def test_a_report_without_an_attempt_ends_the_build_of_a_worker(api, build, claim_build):
    made = build()
    claimed = claim_build()
    path = f"{PATH}/{made['build_id']}"
    api.post(f"{path}/report", {"status": "building"}, expect=200)
    heartbeat(api, claimed)
    failed = {"status": "failed", "error": {"kind": "environment", "message": "no such base"}}
    ended = api.post(f"{path}/report", failed, expect=200).json()
    assert (ended["status"], ended["error"], ended["worker"]) == ("failed", failed["error"], "test")
    report(api, claimed, "succeeded", 409, image="late")
    heartbeat(api, claimed, 409)


def test_a_build_elsewhere_ends_after_its_time(api, build, db):
    made = build()
    path = f"{PATH}/{made['build_id']}"
    api.post(f"{path}/report", {"status": "building"}, expect=200)
    evalenv_tables.reach_deadline(db, made["build_id"])
    db.commit()
    ended = wait_for(lambda: (now := api.get(path).json())["status"] == "failed" and now, "it failed")
    assert ended["error"]["kind"] == "timeout"
    api.problem("POST", f"{path}/report", 409, "conflict", {"status": "succeeded", "image": "late"})


def end_lease(api, db, build_id):
    evalenv_tables.expire_claim(db, build_id)
    db.commit()
    wait_for(lambda: api.get(f"{PATH}/{build_id}").json()["status"] != "building", "it is taken from the worker")


def test_a_lost_worker_is_refused_and_the_build_goes_on(api, build, claim_build, db):
    made = build()
    first = claim_build()
    end_lease(api, db, made["build_id"])
    heartbeat(api, first, 409)
    report(api, first, "succeeded", 409, image="late")
    second = claim_build(wait_seconds=10)
    assert (second["build"]["build_id"], second["attempt"]) == (made["build_id"], 2)
    report(api, first, "succeeded", 409, image="late")
    assert report(api, second, "succeeded", image="i:2")["image"] == "i:2"


def test_a_lost_worker_cannot_take_a_build_back(api, build, claim_build, db):
    path = f"{PATH}/{build()['build_id']}"
    lost = claim_build()
    end_lease(api, db, lost["build"]["build_id"])
    api.post(f"{path}/report", {"status": "building"}, expect=200)
    report(api, lost, "building", 409)
    report(api, lost, "succeeded", 409, image="late")
    assert api.post(f"{path}/report", {"status": "succeeded", "image": "i:1"}, expect=200).json()["image"] == "i:1"


def test_equal_reports_with_and_without_an_attempt_are_one(api, build, claim_build):
    path = f"{PATH}/{build()['build_id']}"
    claimed = claim_build()
    ended = api.post(f"{path}/report", {"status": "succeeded", "image": "i:1"}, expect=200).json()
    assert report(api, claimed, "succeeded", image="i:1") == ended
    report(api, claimed, "succeeded", 409, image="i:2")


def test_attempts_are_bounded(api, build, claim_build, db):
    made = build()
    for attempt in range(1, 4):
        assert claim_build(wait_seconds=10)["attempt"] == attempt
        end_lease(api, db, made["build_id"])
    ended = wait_for(lambda: (now := api.get(f"{PATH}/{made['build_id']}").json())["status"] == "failed" and now, "it failed")
    assert ended["error"]["kind"] == "lost"


def test_a_build_that_takes_too_long_fails(api, build, claim_build, db):
    made = build()
    claimed = claim_build()
    evalenv_tables.reach_deadline(db, made["build_id"])
    db.commit()
    ended = wait_for(lambda: (now := api.get(f"{PATH}/{made['build_id']}").json())["status"] == "failed" and now, "it failed")
    assert ended["error"]["kind"] == "timeout"
    heartbeat(api, claimed, 409)


def test_a_report_again_changes_nothing_and_another_is_refused(api, build, claim_build):
    build()
    claimed = claim_build()
    fault = {"kind": "environment", "message": "no space left"}
    first = report(api, claimed, "failed", error=fault)
    assert first["error"] == fault and report(api, claimed, "failed", error=fault) == first
    report(api, claimed, "succeeded", 409, image="i:1")
    api.problem("POST", f"{PATH}/{first['build_id']}/cancel", 409, "conflict")


def test_a_build_that_failed_gives_nobody_its_image(api, build, claim_build):
    build(containerfile=FILE)
    assert report(api, claim_build(), "failed", image="i:1")["image"] is None
    assert build(containerfile=FILE)["status"] == "queued"


def test_cancelling_reaches_the_worker(api, build, claim_build):
    made = build()
    claimed = claim_build()
    path = f"{PATH}/{made['build_id']}"
    cancelled = api.post(f"{path}/cancel", expect=200).json()
    assert (cancelled["status"], cancelled["error"]["kind"]) == ("cancelled", "cancelled")
    assert heartbeat(api, claimed) == {"lease_until": None, "cancelled": True}
    report(api, claimed, "succeeded", 409, image="late")
    report(api, claimed, "failed", 409)
    assert report(api, claimed, "cancelled") == cancelled
    api.problem("POST", f"{path}/cancel", 409, "conflict")
    assert api.get(path).json() == cancelled


def test_a_log_keeps_its_end(api, build, claim_build):
    build()
    claimed = claim_build()
    for letter in "abc":
        heartbeat(api, claimed, log=letter * 500_000)
    assert report(api, claimed, "failed", log="end")["log_tail"] == "c" * 16381 + "end"


def test_an_idempotency_key_makes_one_build(api):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first, again = (api.post(PATH, {"containerfile": FILE, "no_cache": True}, headers=headers, expect=201) for _ in range(2))
    assert first.json() == again.json()


def test_a_key_of_a_repository_has_its_builds_only(api, build):
    body = {"name": "k", "kind": "automation", "scopes": ["eval:read", "eval:write", "eval:report"], "repo": "acme/ranker"}
    limited = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    other = build(repo="acme/other")
    limited.problem("GET", f"{PATH}/{other['build_id']}", 403, "forbidden")
    limited.problem("POST", PATH, 403, "forbidden", {"repo": "acme/other"})
    limited.post(f"{PATH}/claim", {"worker": "w"}, expect=204)
    own = limited.post(PATH, {"repo": "Acme/Ranker", "ref": "main"}, expect=201).json()
    assert limited.post(f"{PATH}/claim", {"worker": "w"}, expect=200).json()["build"]["build_id"] == own["build_id"]
