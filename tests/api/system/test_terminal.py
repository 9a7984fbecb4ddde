"""What came from outside cannot command the terminal that a command prints it to."""

import json
import os
import subprocess
import sys
import uuid

import pytest

from lib.outside.stub_server import StubServer
from lib.system.servers import ROOT

OBEYED = "\x1b]0;t\a\x1b[2J\r\x08\x7f\x80\u009b31m\u061c\u200f\u2028\u202e\u2066"
SHOWN = r"\u001b]0;t\u0007\u001b[2J\r\b\u007f\u0080\u009b31m\u061c\u200f\u2028\u202e\u2066"


def is_safe(printed):
    return not set(printed) & (set(OBEYED) - set("]0;t[2J31m"))


@pytest.fixture
def dead_event(cluster):
    redis, stream = cluster.redis.client(), "events.dead.svc-interests"
    redis.delete(stream)  # other tests may have left something
    redis.xadd(stream, {"stream": "events.account", "service": "svc-interests", "error": f"é {OBEYED}", "id": str(uuid.uuid4()), "account": "",
                        "type": OBEYED, "at": "2026-01-31T09:30:00.000Z", "data": json.dumps({"name": OBEYED}, ensure_ascii=False),
                        "request_id": "", "lane": ""})  # fmt: skip
    yield
    redis.delete(stream)


def test_dead_letters(cluster, dead_event):
    for action in (["list"], ["show", "--all"]):
        printed = cluster.run("svc-interests", "dead", *action)
        assert is_safe(printed) and json.loads(printed)["error"] == f"é {OBEYED}"
    assert is_safe(cluster.run("svc-interests", "dead", "retry", "--dry-run", "--all"))


def test_an_import(cluster, tmp_path):
    papers = tmp_path / f"papers{OBEYED}.jsonl"
    papers.write_text("{\n")
    command = [cluster.binary("svc-search"), "import", papers]
    done = subprocess.run(command, env={**os.environ, **cluster.settings("svc-search", "command")}, capture_output=True, check=False)
    assert f"papers{SHOWN}.jsonl:1: skipped:" in done.stderr.decode() and is_safe(done.stderr.decode())


def test_what_ends_a_command(cluster, tmp_path):
    command = [cluster.binary("svc-search"), "import", tmp_path / OBEYED]
    done = subprocess.run(command, env={**os.environ, **cluster.settings("svc-search", "command")}, capture_output=True, check=False)
    assert done.returncode == 1 and SHOWN in done.stderr.decode() and is_safe(done.stderr.decode())


def test_status(cluster):
    reasons = {"status": "unready", "reasons": [f"é {OBEYED}"], "faults": []}
    metrics = f'expops_events_lag_seconds{{stream="{OBEYED.replace(chr(13), "")}"}} 1\n'.replace("\u2028", "")
    process = StubServer(lambda request: request.reply(200, json.dumps(reasons) if request.path == "/readyz" else metrics))
    try:
        done = subprocess.run([ROOT / "deploy" / "dev", "status", f"x={process.url.removeprefix('http://')}"], capture_output=True, check=False)
    finally:
        process.close()
    printed = done.stdout.decode()
    assert f"é {SHOWN}" in printed and is_safe(printed), done.stderr


def test_the_main_job():
    """Titles of papers, and answers that are none of ours."""
    papers = [{"rank": 1, "title": f"é {OBEYED}", "relevance_score": 0.9, "resource_id": OBEYED, "url": OBEYED, "reasoning": f"Since {OBEYED}."}]
    answers = {"/interests": [{"id": "1", "name": "Better retrieval for question answering"}],
               "/papers/recommended/digest": {"interests": [{"id": "1", "recommendations": papers}]}}  # fmt: skip
    server = StubServer(lambda request: request.reply(200, json.dumps(answers[request.path.removeprefix("/api/v1.0").partition("?")[0]])))
    refusal = StubServer(lambda request: request.reply(400, OBEYED))
    try:
        for url, code in ((server.url, 0), (refusal.url, 1)):
            env = {**os.environ, "EXPOPS_URL": url, "EXPOPS_KEY": "usr_x"}
            done = subprocess.run([sys.executable, "-B", ROOT / "deploy" / "dev.d" / "main_job.py"], env=env, capture_output=True, check=False)
            printed = (done.stdout + done.stderr).decode()
            assert done.returncode == code and SHOWN in printed and is_safe(printed)
    finally:
        server.close()
        refusal.close()


def test_the_filter_of_logs():
    """Line by line, with whatever bytes a program has written."""
    command = [sys.executable, "-B", ROOT / "deploy" / "dev.d" / "terminal.py"]
    text = f"é\t{OBEYED}\n".encode() + b"\xff\x9b31m \xe2\x80\n"
    done = subprocess.run(command, input=text, capture_output=True, check=True)
    assert done.stdout == f"é\t{SHOWN}\n".encode() + rb"\xff\x9b31m \xe2\x80" + b"\n"
