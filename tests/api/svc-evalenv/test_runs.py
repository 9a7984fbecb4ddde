"""Runs: the version and the image that they use, claims, time limits, cancelling, and results that are delivered."""

import json
import math
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from lib.scenario.evalenv import SECRET, SPEC, signed
from lib.tables import evalenv as evalenv_tables
from lib.wait import wait_for

PATH, BUILDS, TEMPLATES = "/eval-env/runs", "/eval-env/builds", "/eval-env/templates"
RESULTS, HOSTED = "/eval-env/webhooks/results", "/eval-env/webhooks/hosted/results"
FILE = "FROM scratch\n"
LIB = Path(__file__).resolve().parents[2] / "lib" / "outside"


@pytest.fixture
def run(api, template):
    """run(**members): a new run, of a new template unless `template_id` or `build_id` is given."""

    def make(**members):
        members.setdefault("template_id", None if "build_id" in members else template()["template_id"])
        return api.post(PATH, members, expect=201).json()

    return make


@pytest.fixture
def claim(api):
    return lambda **members: api.post(f"{PATH}/claim", {"worker": "test", **members}, expect=200).json()


@pytest.fixture
def deliver(api):
    """deliver(run, status, **members): a result of the run; returns the run."""

    def send(run, status, expect=200, **members):
        api.post(RESULTS, {"run_id": run["run_id"], "status": status, **members}, expect=expect)
        return api.get(f"{PATH}/{run['run_id']}", expect=200).json()

    return send


def test_a_run_from_queue_to_result(api, run, claim, deliver):
    made = run(name="first", params={"queries": 3}, timeout_seconds=60)
    assert (made["status"], made["target"], made["timeout_seconds"]) == ("queued", "worker", 60)
    claimed = claim()
    context = claimed["context"]
    assert (context["run_id"], context["image"], context["command"]) == (made["run_id"], SPEC["image"], SPEC["command"])
    assert (context["params"], context["timeout_seconds"]) == ({"queries": 3}, 60)
    path = f"{PATH}/{made['run_id']}"
    api.post(f"{path}/heartbeat", {"attempt": 1, "log": "working\n"}, expect=200)
    artifacts = [{"name": "log", "url": "s3://bucket/log"}]
    ended = deliver(made, "succeeded", attempt=1, metrics={"recall": 0.5, "loss": 2}, results={"n": 3}, artifacts=artifacts)
    assert (ended["status"], ended["metrics"], ended["results"]) == ("succeeded", {"recall": 0.5, "loss": 2}, {"n": 3})
    assert (ended["artifacts"], ended["log_tail"], ended["error"]) == (artifacts, "working\n", None)


def test_a_run_keeps_the_version_of_its_template(api, template, run, claim):
    made = template()
    first = run(template_id=made["template_id"])
    api.put(f"{TEMPLATES}/{made['template_id']}", {"spec": {**SPEC, "command": "other"}}, expect=200)
    assert (first["template_version"], first["template_digest"]) == (1, made["digest"])
    assert claim()["context"]["command"] == SPEC["command"]
    second = run(template_id=made["template_id"])
    assert second["template_version"] == 2 and claim()["context"]["command"] == "other"


def test_a_list_leaves_out_what_is_large(api, run, deliver):
    large = run(params={"text": "p" * 20_000})
    deliver(large, "succeeded", metrics={f"m{i}": i for i in range(5000)} | {"recall": 1}, results={"text": "r" * 1_000_000},
            artifacts=[{"name": f"log {i}", "url": f"s3://bucket/{'log/' * 100}"} for i in range(100)])
    small = run(params={"n": 1})
    deliver(small, "succeeded", metrics={"recall": 0.5}, results={"hits": 7}, artifacts=[{"name": "log", "url": "s3://bucket/log"}])
    answer = api.get(PATH, expect=200)
    listed, read = answer.json(), api.get(f"{PATH}/{small['run_id']}", expect=200).json()
    assert len(answer.content) < 10_000
    assert listed[0] == read
    assert listed[1] == {**api.get(f"{PATH}/{large['run_id']}", expect=200).json(), **dict.fromkeys(("params", "metrics", "results", "artifacts"))}


def test_a_list_does_not_read_what_is_large(api, run, deliver, db, user):
    """Nor what is stored small because it repeats itself."""
    for number in range(3):
        deliver(run(params={"text": "p" * 20_000}), "succeeded", metrics={"recall": number}, results={"text": "r" * 7_000_000},
                artifacts=[{"name": "log", "url": f"s3://bucket/{'log/' * 100}"}] * 100)
    assert evalenv_tables.row_bytes(db, user.account) < 2000
    with db.transaction():  # in which counts are not handed over
        assert evalenv_tables.results_in_list(db, user.account) == [None] * 3 and evalenv_tables.large_pages_read(db) == 0
        assert len(evalenv_tables.result_text(db, user.account)) == 7_000_000 and evalenv_tables.large_pages_read(db) > 0


def test_waiting_runs_of_an_account_are_bounded(api, template, bounded, claim):
    bounds, made = bounded(WORK_WAITING_MAX="2"), template()["template_id"]
    answers = [bounds.post(PATH, {"template_id": made, "target": target}) for target in ("worker", "hosted", "worker")]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert "too many runs of this account are waiting" in answers[-1].json()["detail"]
    claim()
    assert bounds.post(PATH, {"template_id": made}).status_code == 201


def test_the_build_of_a_run_counts(template, bounded):
    bounds = bounded(WORK_WAITING_MAX="1")
    made = [template(spec={"containerfile": FILE + text, "command": "x"})["template_id"] for text in ("# 1\n", "# 2\n")]
    assert bounds.post(BUILDS, {"containerfile": FILE, "no_cache": True}).status_code == 201
    answer = bounds.post(PATH, {"template_id": made[0]})
    assert answer.status_code == 409 and "too many builds" in answer.json()["detail"]


@pytest.mark.parametrize(("own", "of_template", "expected"),
                         [(None, None, 3600), (60, None, 60), (None, 7200, 7200), (60, 7200, 60), (600, 30, 30)])  # fmt: skip
def test_the_time_limit_of_a_run(api, template, own, of_template, expected):
    spec = SPEC if of_template is None else {**SPEC, "resources": {"timeout_seconds": of_template}}
    body = {"template_id": template(spec=spec)["template_id"]} | ({} if own is None else {"timeout_seconds": own})
    assert api.post(PATH, body, expect=201).json()["timeout_seconds"] == expected


def test_old_deliveries_are_forgotten(cluster, api, db, run):
    """Not those of a run that goes on."""
    ended, going, new = run(), run(), run()
    for one, status in ((ended, "succeeded"), (going, "running"), (new, "succeeded")):
        body = {"run_id": one["run_id"], "status": status, "metrics": {"recall": 1}}
        api.post(RESULTS, body, headers={"webhook-id": one["run_id"]}, expect=200)
    evalenv_tables.age_deliveries(db, [ended["run_id"], going["run_id"]], 31)
    process = cluster.separate("svc-evalenv", "forgetful")
    process.start()
    all_runs = [one["run_id"] for one in (ended, going, new)]
    wait_for(lambda: evalenv_tables.delivered(db, all_runs) == {going["run_id"], new["run_id"]}, "the old delivery is forgotten")
    process.stop()
    again = {"run_id": ended["run_id"], "status": "failed"}
    api.post(RESULTS, again, headers={"webhook-id": ended["run_id"]}, expect=409)


def test_old_builds_and_runs_are_deleted(cluster, api, db, run, template):
    """Not those that go on, and a build only with the last run that used it."""
    builds = [api.post("/eval-env/builds", {"containerfile": f"FROM scratch\n# {n}"}, expect=201).json()["build_id"] for n in range(2)]
    evalenv_tables.end_work(db, builds)
    for build in builds:
        evalenv_tables.set_image(db, build, "i:1")
    old, going, new = run(build_id=builds[0]), run(), run(build_id=builds[1])
    for one in (old, new):
        api.post(RESULTS, {"run_id": one["run_id"], "status": "succeeded", "results": {"text": "x" * 10000}}, expect=200)
    evalenv_tables.age_work(db, [*builds, old["run_id"], going["run_id"]], 1101)
    cluster["svc-evalenv"][0].popen.send_signal(signal.SIGHUP)
    wait_for(lambda: api.get(f"/eval-env/builds/{builds[0]}").status_code == 404, "the old build is deleted")
    api.problem("GET", f"{PATH}/{old['run_id']}", 404, "not_found")
    for kept in (going, new):
        api.get(f"{PATH}/{kept['run_id']}", expect=200)
    api.get(f"/eval-env/builds/{builds[1]}", expect=200)


def test_the_list_filters(api, template, run, deliver, other_user):
    made = template()["template_id"]
    first, second = run(template_id=made), run()
    deliver(first, "failed")
    assert [one["run_id"] for one in api.get(PATH, expect=200).json()] == [second["run_id"], first["run_id"]]
    assert [one["run_id"] for one in api.get(f"{PATH}?status=failed").json()] == [first["run_id"]]
    assert [one["run_id"] for one in api.get(f"{PATH}?template_id={made}").json()] == [first["run_id"]]
    assert other_user.api.get(PATH, expect=200).json() == []
    api.problem("GET", f"{PATH}?status=done", 400, "invalid_request")


def test_a_run_waits_for_its_image(api, template, run, claim, claim_build):
    made = run(template_id=template(spec={"containerfile": FILE, "command": "x"})["template_id"])
    assert made["build_id"]
    api.post(f"{PATH}/claim", {"worker": "w"}, expect=204)
    build = claim_build()
    assert (build["build"]["build_id"], build["context"]["containerfile"]) == (made["build_id"], FILE)
    body = {"attempt": 1, "status": "succeeded", "image": "i:1"}
    api.post(f"{BUILDS}/{made['build_id']}/report", body, expect=200)
    assert claim()["context"]["image"] == "i:1"
    again = run(template_id=template(spec={"containerfile": FILE, "command": "y"})["template_id"])
    assert again["build_id"] != made["build_id"] and claim()["context"]["image"] == "i:1"


def test_a_run_fails_with_its_build(api, run, claim_build):
    build = api.post(BUILDS, {"containerfile": FILE, "no_cache": True}, expect=201).json()
    made = run(build_id=build["build_id"])
    claim_build()
    api.post(f"{BUILDS}/{build['build_id']}/report", {"attempt": 1, "status": "failed"}, expect=200)
    ended = api.get(f"{PATH}/{made['run_id']}").json()
    assert (ended["status"], ended["error"]["kind"], ended["metrics"]) == ("failed", "environment", None)
    api.problem("POST", PATH, 409, "conflict", {"build_id": build["build_id"]})


def test_what_a_run_needs(api, template, other_user):
    api.problem("POST", PATH, 400, "invalid_request", {})
    theirs = template()["template_id"]
    for body in ({"template_id": theirs}, {"template_id": str(uuid.uuid4())}):
        fault, = other_user.api.problem("POST", PATH, 400, "invalid_request", body)["errors"]
        assert fault["field"] == "template_id"
    fault, = api.problem("POST", PATH, 400, "invalid_request", {"build_id": str(uuid.uuid4())})["errors"]
    assert fault["field"] == "build_id"
    both = {"template_id": str(uuid.uuid4()), "build_id": str(uuid.uuid4())}
    faults = api.problem("POST", PATH, 400, "invalid_request", both)["errors"]
    assert [fault["field"] for fault in faults] == ["template_id", "build_id"]


LONG = {"webhook-id": "x" * 201}
FAULTS = {
    "run": (PATH, {"timeout_seconds": 0, "name": 1}, {}, {"template_id", "timeout_seconds", "name"}),
    "build": (BUILDS, {"ref": 1, "build_args": {"A=": "1", "B": 2}}, {}, {"body", "ref", "build_args"}),
    "paper": (BUILDS, {"repo": "acme/ranker", "arxiv_id": "2401.00001", "template_id": "x"}, {}, {"arxiv_id", "template_id"}),
    "report": (f"{BUILDS}/{uuid.uuid4()}/report", {"status": "succeeded", "digest": 5}, {}, {"image", "digest"}),
    "result": (RESULTS, {"status": "done", "metrics": {"a": "b"}}, LONG, {"webhook-id", "run_id", "status", "metrics"}),
    "hosted": (HOSTED, {"run_id": 5, "output": {"metrics": {"a": "b"}}, "error": 5}, LONG,
               {"webhook-id", "call_id", "job_id", "run_id", "output.metrics", "state", "error"}),
    "claim": (f"{PATH}/claim", {"worker": " ", "wait_seconds": 31}, {}, {"worker", "wait_seconds"}),
    "heartbeat": (f"{PATH}/{uuid.uuid4()}/heartbeat", {"attempt": 0, "log": 1, "release": 2}, {}, {"attempt", "log", "release"}),
    "template": (TEMPLATES, {"description": 1, "spec": {"env": {"1": "x"}}, "webhook_secret": "x"}, {},
                 {"name", "description", "spec", "spec.env", "webhook_secret"}),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_each_fault_is_named(api, case):
    path, body, headers, fields = FAULTS[case]
    answer = api.post(path, body, headers=headers, expect=400).json()
    assert {fault["field"] for fault in answer["errors"]} == fields


def test_a_run_times_out(api, run, claim, deliver, db):
    made = run()
    claim()
    evalenv_tables.reach_deadline(db, made["run_id"])
    db.commit()
    path = f"{PATH}/{made['run_id']}"
    ended = wait_for(lambda: (now := api.get(path).json())["status"] == "timed_out" and now, "it timed out")
    assert ended["error"]["kind"] == "timeout"
    assert api.post(f"{path}/heartbeat", {"attempt": 1}, expect=200).json() == {"lease_until": None, "cancelled": True}
    deliver(made, "succeeded", 409, attempt=1, metrics={"recall": 1})


def test_cancelling_a_run(api, run, claim, deliver):
    made = run()
    claim()
    path = f"{PATH}/{made['run_id']}"
    assert api.post(f"{path}/cancel", expect=200).json()["status"] == "cancelled"
    assert api.post(f"{path}/heartbeat", {"attempt": 1}, expect=200).json()["cancelled"]
    assert deliver(made, "succeeded", 409, attempt=1, metrics={"recall": 1})["metrics"] is None
    cancelled = api.get(path).json()
    assert deliver(made, "cancelled", attempt=1) == cancelled == deliver(made, "cancelled", error={"kind": "cancelled", "message": "x"})
    api.problem("POST", f"{path}/cancel", 409, "conflict")


def test_a_platform_may_confirm_a_cancelling(api, run):
    made = run(target="hosted")
    call = {"call_id": f"fc-{made['run_id']}"}
    api.post(HOSTED, {"run_id": made["run_id"], "state": "running", **call}, expect=200)
    api.post(f"{PATH}/{made['run_id']}/cancel", expect=200)
    assert api.post(HOSTED, {"state": "cancelled", **call}, expect=200).json()["status"] == "cancelled"
    api.problem("POST", HOSTED, 409, "conflict", {"state": "success", "output": {"recall": 1}, **call})


# ---- results ----


def test_a_missing_metric_is_the_fault_of_the_task(run, deliver):
    ended = deliver(run(), "succeeded", metrics={"precision": 1})
    assert (ended["status"], ended["error"]["kind"]) == ("failed", "task") and "recall" in ended["error"]["message"]


@pytest.mark.parametrize("kind", ["environment", "task", "timeout", "cancelled", "lost"])
def test_a_score_never_comes_from_the_environment(run, deliver, kind):
    fault = {"kind": kind, "message": "out of memory"}
    ended = deliver(run(), "failed", metrics={"recall": 0.1}, error=fault)
    assert ended["error"] == fault and ended["metrics"] == ({"recall": 0.1} if kind == "task" else None)


def test_a_success_with_an_error_is_none(run, deliver):
    fault = {"kind": "environment", "message": "the disk was full"}
    ended = deliver(run(), "succeeded", metrics={"recall": 0.1}, error=fault)
    assert (ended["status"], ended["metrics"]) == ("failed", None)


@pytest.mark.parametrize("value", ["NaN", None, [], True, "1"])
def test_a_metric_is_a_number(api, run, value):
    body = {"run_id": run()["run_id"], "status": "succeeded", "metrics": {"recall": value}}
    fault, = api.problem("POST", RESULTS, 400, "invalid_request", body)["errors"]
    assert fault["field"] == "metrics"


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"1e999"])
def test_a_number_is_finite(api, run, number):
    body = json.dumps({"run_id": run()["run_id"], "status": "succeeded", "metrics": {"recall": math.pi}}).encode()
    headers = {"Content-Type": "application/json"}
    api.request("POST", RESULTS, content=body.replace(str(math.pi).encode(), number), headers=headers, expect=400)


def test_a_result_again_changes_nothing_and_another_is_refused(run, deliver):
    made = run()
    first = deliver(made, "succeeded", metrics={"recall": 0.5})
    assert deliver(made, "succeeded", metrics={"recall": 0.5}) == first
    assert deliver(made, "succeeded", 409, metrics={"recall": 0.9}) == first


def test_a_late_attempt_is_refused(api, run, claim, deliver, db):
    made = run()
    claim()
    evalenv_tables.expire_claim(db, made["run_id"])
    db.commit()
    wait_for(lambda: api.get(f"{PATH}/{made['run_id']}").json()["status"] == "queued", "it is queued again")
    deliver(made, "succeeded", 409, attempt=1, metrics={"recall": 1})
    assert claim(wait_seconds=10)["attempt"] == 2
    deliver(made, "succeeded", 409, attempt=1, metrics={"recall": 1})
    assert deliver(made, "succeeded", attempt=2, metrics={"recall": 0.5})["metrics"] == {"recall": 0.5}


@pytest.mark.parametrize("way", ["heartbeat", "result"])
def test_a_run_is_its_workers_until_it_is_queued_again(run, claim, db, way):
    """Though its lease has ended: the row is locked, so that the service cannot queue it meanwhile."""
    made = run()
    claim()
    evalenv_tables.expire_claim(db, made["run_id"])
    assert evalenv_tables.tell(db, made["run_id"], way) == "ok"
    assert evalenv_tables.lease_left(db, made["run_id"]) in (None, 60)


def test_workers_keep_their_work_when_nobody_looked_at_leases(run, claim, db):
    """Also those of which nothing was heard before the service looked at their leases again."""
    runs = [run()["run_id"] for _ in range(3)]
    for _ in runs:
        claim()
    for one in runs:
        evalenv_tables.expire_claim(db, one)
    evalenv_tables.reach_deadline(db, runs[2])
    evalenv_tables.look_away(db, 50)
    assert evalenv_tables.tell(db, runs[0], "heartbeat") == "ok"
    evalenv_tables.look(db)
    evalenv_tables.look(db)
    assert evalenv_tables.state(db, runs) == ["running"] * 3
    evalenv_tables.end_hold(db)
    evalenv_tables.look(db)
    assert evalenv_tables.state(db, runs) == ["running", "queued", "timed_out"]
    db.rollback()


@pytest.mark.parametrize("away", [20, 50])
def test_what_is_claimed_after_nobody_looked_at_leases_is_not_held(run, claim, db, away):
    evalenv_tables.look_away(db, away)
    evalenv_tables.look(db)
    assert bool(evalenv_tables.holds_leases(db)) == (away > 30)
    made = run()["run_id"]
    claim()
    evalenv_tables.expire_claim(db, made)
    evalenv_tables.look(db)
    assert evalenv_tables.state(db, [made]) == ["queued"]
    db.rollback()


def test_a_lost_worker_cannot_take_a_run_back(api, run, claim, deliver, db):
    made = run()
    claim()
    evalenv_tables.expire_claim(db, made["run_id"])
    db.commit()
    wait_for(lambda: api.get(f"{PATH}/{made['run_id']}").json()["status"] == "queued", "it is queued again")
    deliver(made, "running")
    deliver(made, "succeeded", 409, attempt=1, metrics={"recall": 1})
    done = deliver(made, "succeeded", metrics={"recall": 0.5})
    assert deliver(made, "succeeded", attempt=1, metrics={"recall": 0.5}) == done


@pytest.mark.parametrize("named", [{"attempt": 1}, {}], ids=["by its worker", "by another"])
def test_a_run_that_was_said_to_run_goes_to_the_next_worker(api, run, claim, deliver, named):
    made = run()
    claim()
    assert deliver(made, "running", **named)["status"] == "running"
    api.post(f"{PATH}/{made['run_id']}/heartbeat", {"attempt": 1, "release": True}, expect=200)
    assert claim(wait_seconds=10)["attempt"] == 2


def test_a_run_that_runs_elsewhere_is_not_given_to_workers(api, run, deliver):
    deliver(run(), "running")
    api.post(f"{PATH}/claim", {"worker": "w"}, expect=204)


def test_another_account_delivers_nothing(run, other_user, operator_api, api):
    made = run()
    body = {"run_id": made["run_id"], "status": "succeeded", "metrics": {"recall": 1}}
    other_user.api.problem("POST", RESULTS, 404, "not_found", body)
    operator_api.post(RESULTS, body, expect=200)
    assert api.get(f"{PATH}/{made['run_id']}").json()["status"] == "succeeded"


# ---- signatures ----


@pytest.fixture
def signed_run(template, run):
    return run(template_id=template(webhook_secret=SECRET)["template_id"])


def send(api, path, body, headers, expect):
    content = json.dumps(body).encode() if isinstance(body, dict) else body
    return api.request("POST", path, content=content, headers={"Content-Type": "application/json", **headers}, expect=expect)


def result(run, **members):
    return json.dumps({"run_id": run["run_id"], "status": "succeeded", "metrics": {"recall": 0.5}, **members}).encode()


def test_the_senders_own_library_signs(api, signed_run):
    body = result(signed_run)
    command = ["node", LIB / "sign_standard_webhook.mjs", SECRET, "msg_1", str(int(time.time()))]
    signature = subprocess.run(command, input=body, capture_output=True, check=True).stdout.decode().strip()
    headers = {"webhook-id": "msg_1", "webhook-timestamp": command[-1], "webhook-signature": signature}
    send(api, RESULTS, body, headers, 200)


WRONG = {
    "none": lambda body: {},
    "another secret": lambda body: signed(body, secret=b"x" * 32),
    "another body": lambda body: signed(body + b" "),
    "another id": lambda body: signed(body) | {"webhook-id": "msg_2"},
    "another version": lambda body: (of := signed(body)) | {"webhook-signature": of["webhook-signature"].replace("v1,", "v1a,")},
    "old": lambda body: signed(body, at=time.time() - 310),
    "future": lambda body: signed(body, at=time.time() + 310),
    "no time": lambda body: {**signed(body), "webhook-timestamp": "now"},
    "no signature": lambda body: signed(body) | {"webhook-signature": ""},
    "not base64": lambda body: signed(body) | {"webhook-signature": "v1,%%% v1, v1"},
}


@pytest.mark.parametrize("path", [RESULTS, HOSTED])
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_signature_is_401(api, signed_run, case, path):
    body = result(signed_run, state="succeeded")
    assert send(api, path, body, WRONG[case](body), 401).json()["error"] == "invalid_token"
    assert api.get(f"{PATH}/{signed_run['run_id']}").json()["status"] == "queued"


def test_one_of_several_signatures_is_enough(api, signed_run):
    """As while a sender replaces its secret."""
    body = result(signed_run)
    headers, old = signed(body), signed(body, secret=b"x" * 32)
    both = f"v2,abc {old['webhook-signature']} {headers['webhook-signature']}"
    send(api, RESULTS, body, headers | {"webhook-signature": both}, 200)


def test_a_delivery_counts_once(api, signed_run):
    body = result(signed_run, status="running")
    headers = signed(body, id="msg_once")
    assert not send(api, RESULTS, body, headers, 200).json()["duplicate"]
    other = result(signed_run)
    again = send(api, RESULTS, other, signed(other, id="msg_once"), 200).json()
    assert again["duplicate"] and again["status"] == "running"
    last = send(api, RESULTS, other, signed(other, id="msg_last"), 200).json()
    assert (last["duplicate"], last["status"]) == (False, "succeeded")
    assert send(api, RESULTS, other, signed(other, id="msg_last"), 200).json()["duplicate"]


@pytest.mark.parametrize("path", [RESULTS, HOSTED])
def test_a_delivery_of_another_run_is_its_own(api, run, path):
    """Whatever id its sender has chosen."""
    for made, recall in ((run(), 0.5), (run(), 0.75), (run(), 0.25)):
        call = {"call_id": f"fc-{made['run_id']}", "state": "succeeded", "output": {"recall": recall}}
        body = {"run_id": made["run_id"], "status": "succeeded", "metrics": {"recall": recall}} if path == RESULTS else {**call, "run_id": made["run_id"]}
        for duplicate in (False, True):
            answer = api.post(path, body, headers={"webhook-id": "1"}, expect=200).json()
            assert (answer["run_id"], answer["duplicate"]) == (made["run_id"], duplicate)
        assert api.get(f"{PATH}/{made['run_id']}", expect=200).json()["metrics"] == {"recall": recall}


def test_a_large_result_is_signed_too(api, signed_run):
    body = result(signed_run, results={"rows": "x" * 900_000})
    send(api, RESULTS, body, signed(body), 200)
    rest = len(result(signed_run, results={"rows": ""}))
    largest = result(signed_run, results={"rows": "x" * ((8 << 20) - rest)})
    too_large = result(signed_run, results={"rows": "x" * ((8 << 20) - rest + 1)})
    send(api, RESULTS, too_large, signed(too_large, id="msg_2"), 413)
    send(api, RESULTS, largest, signed(largest, id="msg_3"), 409)


@pytest.mark.parametrize("path", [RESULTS, HOSTED])
def test_a_result_has_up_to_8_mib(api, run, path):
    made = run()
    told = {"rows": "x" * ((8 << 20) - 500), "text": "é"}
    names = {"run_id": made["run_id"]}
    if path == RESULTS:
        body = {**names, "status": "failed", "results": told}
    else:
        body = {**names, "job_id": made["run_id"], "state": "failed", "output": told}
    send(api, path, json.dumps(body, ensure_ascii=False).encode(), {}, 200)
    assert api.get(f"{PATH}/{made['run_id']}", expect=200).json()["results"] == told


# ---- hosted platforms ----


def test_a_hosted_run_is_not_given_to_workers(api, run):
    made = run(target="hosted")
    api.post(f"{PATH}/claim", {"worker": "w"}, expect=204)
    call = f"fc-{made['run_id']}"
    for state, status in (("pending", "queued"), ("running", "running")):
        answer = api.post(HOSTED, {"run_id": made["run_id"], "call_id": call, "state": state}, expect=200).json()
        assert answer["status"] == status
    api.post(HOSTED, {"call_id": call, "state": "completed", "output": {"recall": 0.7, "note": "x"}}, expect=200)
    ended = api.get(f"{PATH}/{made['run_id']}").json()
    assert (ended["status"], ended["metrics"], ended["results"]) == ("succeeded", {"recall": 0.7}, {"recall": 0.7, "note": "x"})


def test_a_call_of_two_accounts_needs_the_run(run, other_user, operator_api):
    theirs = other_user.api.post(TEMPLATES, {"name": "t", "spec": SPEC}, expect=201).json()["template_id"]
    runs = [run(target="hosted"), other_user.api.post(PATH, {"template_id": theirs, "target": "hosted"}, expect=201).json()]
    call = f"fc-{runs[0]['run_id']}"
    for made in runs:
        operator_api.post(HOSTED, {"run_id": made["run_id"], "call_id": call, "state": "running"}, expect=200)
    operator_api.problem("POST", HOSTED, 409, "conflict", {"call_id": call, "state": "failed"})
    other_user.api.post(HOSTED, {"call_id": call, "state": "failed"}, expect=200)
    assert other_user.api.get(f"{PATH}/{runs[1]['run_id']}").json()["status"] == "failed"


def test_a_call_evaluates_two_runs(api, run):
    first, second = (run(target="hosted")["run_id"] for _ in range(2))
    call = f"fc-{first}"
    for made in (first, second):
        body = {"run_id": made, "job_id": call, "state": "running"}
        assert api.post(HOSTED, body, expect=200).json()["status"] == "running"
    ended = {"state": "completed", "output": {"recall": 0.7}}
    assert api.post(HOSTED, {"run_id": second, "job_id": call, **ended}, expect=200).json()["run_id"] == second
    assert api.post(HOSTED, {"job_id": call, **ended}, expect=200).json()["run_id"] == first
    assert {api.get(f"{PATH}/{made}").json()["status"] for made in (first, second)} == {"succeeded"}


STATES = {"succeeded": "succeeded", "success": "succeeded", "completed": "succeeded", "failed": "failed", "failure": "failed",
          "error": "failed", "cancelled": "cancelled", "timeout": "timed_out"}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_states_of_platforms(api, run, state):
    made = run(target="hosted")
    body = {"run_id": made["run_id"], "job_id": made["run_id"], "state": state, "output": {"metrics": {"recall": 0.7}}}
    assert api.post(HOSTED, body, expect=200).json()["status"] == STATES[state]


@pytest.mark.parametrize("named", [{}, {"run_id": True}, {"call_id": None}, {"run_id": True, "job_id": None}])
def test_a_platform_names_its_call(api, run, named):
    if "run_id" in named:
        named = {**named, "run_id": run(target="hosted")["run_id"]}
    faults = api.problem("POST", HOSTED, 400, "invalid_request", {**named, "state": "failed"})["errors"]
    assert [fault["field"] for fault in faults] == ["call_id", "job_id"]


def test_an_error_of_a_platform(api, run):
    texts = {"out of memory": {"kind": "task", "message": "out of memory"}}
    fault = {"kind": "environment", "message": "no machine"}
    for error, expected in [("out of memory", texts["out of memory"]), (fault, fault)]:
        made = run(target="hosted")
        api.post(HOSTED, {"run_id": made["run_id"], "call_id": made["run_id"], "state": "failed", "error": error}, expect=200)
        assert api.get(f"{PATH}/{made['run_id']}").json()["error"] == expected
    for error in (1, [], {}, {"kind": "other", "message": "x"}):
        call = {"run_id": made["run_id"], "call_id": made["run_id"]}
        api.problem("POST", HOSTED, 400, "invalid_request", {**call, "state": "failed", "error": error})
    api.problem("POST", HOSTED, 404, "not_found", {"call_id": "unknown", "state": "failed"})


@pytest.mark.parametrize("given, expected", {
    "a text": ("ä" * 2001, {"kind": "task", "message": "ä" * 2000}),
    "an object": ({"kind": "environment", "message": "x" * 70000, "trace": "y" * 70000}, {"kind": "environment", "message": "x" * 2000}),
}.values())  # fmt: skip
def test_a_long_error_of_a_platform_is_cut(api, run, given, expected):
    made = run(target="hosted")
    body = {"run_id": made["run_id"], "call_id": made["run_id"], "state": "failed", "error": given}
    assert api.post(HOSTED, body, expect=200).json()["status"] == "failed"
    assert api.get(f"{PATH}/{made['run_id']}").json()["error"] == expected


def test_an_experiment_gets_the_result(cluster, api, run, deliver, other_user):
    body = {"name": "Ranker", "ab_test_results": {"winner": None}}
    path = f"/experiments/{api.post('/experiments', body, expect=201).json()['id']}"
    theirs = f"/experiments/{other_user.api.post('/experiments', body, expect=201).json()['id']}"
    for named in ("not an id", theirs.split("/")[-1]):
        deliver(run(params={"experiment_id": named}), "succeeded", metrics={"recall": 1})
    first = run(params={"experiment_id": path.split("/")[-1], "queries": 3})
    deliver(first, "failed", error={"kind": "environment", "message": "no space"})
    second = run(params={"experiment_id": path.split("/")[-1]})
    deliver(second, "succeeded", metrics={"recall": 0.5})

    def told():
        now = api.get(path, expect=200).json()
        return now if len(now["ab_test_results"].get("eval_runs", [])) == 2 else None

    shown = wait_for(told, "both results are there")
    newest, oldest = shown["ab_test_results"]["eval_runs"]
    assert (newest["run_id"], newest["status"], newest["metrics"]) == (second["run_id"], "succeeded", {"recall": 0.5})
    assert (oldest["run_id"], oldest["metrics"], oldest["error"]["kind"]) == (first["run_id"], None, "environment")
    assert [change["field"] for change in shown["history"]] == ["ab_test_results"] * 2
    assert other_user.api.get(theirs, expect=200).json()["ab_test_results"] == {"winner": None}
