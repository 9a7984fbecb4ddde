"""The whole way with a real builder: an image made from scratch of a static program, run, its metrics with an experiment, and the
image in the catalogue of papers. Without a builder it fails, unless EXPOPS_TEST_NO_BUILDER=1 says that there is none."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from lib import outside
from lib.scenario.evalenv import SECRET, worker
from lib.wait import wait_for

BUILDERS = ("podman", "docker", "buildah")
PAPER = "/search/assets/2401.00777"

# Reads its parameters and leaves its metrics where the worker says.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	char params[1000] = "";
	FILE *file = fopen("/work/params.json", "r");
	if (!file || !fgets(params, sizeof(params), file) || fclose(file))
		return 2;
	printf("params %s, %s\n", params, argc > 1 ? argv[1] : "");
	file = fopen("/work/result.json", "w");
	if (!file)
		return 3;
	fprintf(file, "{\"metrics\": {\"recall\": 0.75, \"seed\": %s}}", getenv("SEED"));
	return fclose(file) == 0 && strstr(params, "queries") ? 0 : 4;
}
"""


def works(builder):
    return shutil.which(builder) and subprocess.run([builder, "version"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def builder():
    if os.environ.get("EXPOPS_TEST_NO_BUILDER") == "1":
        pytest.skip("EXPOPS_TEST_NO_BUILDER=1")
    found = next(filter(works, BUILDERS), None)
    assert found, f"none of {', '.join(BUILDERS)} works; set EXPOPS_TEST_NO_BUILDER=1 where no builder can run"
    return found


@pytest.fixture
def containerfile(tmp_path):
    """Of an image with the program, which a server of the test's has."""
    (tmp_path / "evaluate.c").write_text(PROGRAM)
    subprocess.run(["cc", "-static", "-O1", "-o", tmp_path / "evaluate", tmp_path / "evaluate.c"], check=True)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"FROM scratch\nADD --chmod=755 http://127.0.0.1:{server.server_port}/evaluate /evaluate\n"
        server.shutdown()


@pytest.fixture
def work(cluster, operator, tmp_path, builder):
    program = worker(cluster, operator.key, tmp_path / "worker", WEBHOOK_SECRETS=SECRET)
    program.start()
    images = []
    yield images
    program.stop()
    assert not program.check()
    subprocess.run([builder, "rmi", "--force", *images], capture_output=True, check=False)


def ended(api, path):
    def read():
        it = api.get(path, expect=200).json()
        return it if it["finished_at"] else None

    return wait_for(read, f"{path} has ended")


def deliver(api, body):
    """As a sender does it that uses the package standardwebhooks."""
    content, at = json.dumps(body).encode(), str(int(time.time()))
    command = ["node", Path(outside.__file__).with_name("sign_standard_webhook.mjs"), SECRET, "msg_real", at]
    signature = subprocess.run(command, input=content, capture_output=True, check=True).stdout.decode().strip()
    headers = {"webhook-id": "msg_real", "webhook-timestamp": at, "webhook-signature": signature}
    headers["Content-Type"] = "application/json"
    api.request("POST", "/eval-env/webhooks/results", content=content, headers=headers, expect=200)


def test_from_a_container_file_to_an_experiment(operator, work, containerfile):
    api = operator.api
    experiment = api.post("/experiments", {"name": "Ranker"}, expect=201).json()["id"]
    spec = {"containerfile": containerfile, "command": ["/evaluate", "--all"], "env": {"SEED": "7"}, "metrics": ["recall"]}
    template = api.post("/eval-env/templates", {"name": "t", "spec": spec, "webhook_secret": SECRET}, expect=201).json()
    made = {"template_id": template["template_id"], "params": {"experiment_id": experiment, "queries": 3}}
    run = api.post("/eval-env/runs", made, expect=201).json()
    build = ended(api, f"/eval-env/builds/{run['build_id']}")
    assert build["status"] == "succeeded", build
    assert build["digest"].startswith("sha256:")
    work.append(build["image"])
    one = ended(api, f"/eval-env/runs/{run['run_id']}")
    assert (one["status"], one["metrics"]) == ("succeeded", {"recall": 0.75, "seed": 7}), one
    assert one["log_tail"].startswith("params {") and one["log_tail"].endswith("}, --all\n")
    hosted = api.post("/eval-env/runs", {**made, "target": "hosted"}, expect=201).json()["run_id"]
    deliver(api, {"run_id": hosted, "status": "succeeded", "metrics": one["metrics"]})

    def results():
        shown = api.get(f"/experiments/{experiment}", expect=200).json()["ab_test_results"] or {}
        return {it["run_id"]: it["metrics"] for it in shown.get("eval_runs", [])}

    wait_for(lambda: results() == {run["run_id"]: one["metrics"], hosted: one["metrics"]}, "the experiment has both results")


def test_a_paper_gets_its_container(operator, work, containerfile):
    api = operator.api
    api.put(PAPER, {"title": "Zygomorphic ranking", "abstract": "A.", "containerfile": containerfile}, expect=200)
    build = api.post("/eval-env/builds", {"arxiv_id": "2401.00777"}, expect=201).json()["build_id"]
    image = ended(api, f"/eval-env/builds/{build}")["image"]
    work.append(image)

    def found():
        body = {"query": "zygomorphic ranking", "has_container": True}
        return [it["container_image"] for it in api.post("/search/assets", body, expect=200).json()]

    wait_for(lambda: image in found(), "the paper is found with its container")
