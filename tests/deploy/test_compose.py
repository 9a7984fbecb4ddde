"""deploy/compose.yaml for real: the README's walk, replicas that come and go, and where secrets may be seen."""

import json
import os
import subprocess
import sys

import httpx
import pytest

from lib.system.deployment import DEPLOY, IMAGE, ROOT, docker, run
from lib.wait import PATIENCE_SECONDS, wait_for

REQUESTS = 60


@pytest.fixture(scope="module")
def api(deployment):
    """A client with the key of a new account."""
    key = deployment.create_user()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"{deployment.url}/api/v1.0", headers=headers, timeout=PATIENCE_SECONDS) as client:
        client.key = key
        yield client


def get(api, path):
    answer = api.get(path)
    assert answer.status_code == 200, answer.text
    return answer


def test_the_main_job(deployment, api):
    deployment.import_papers(DEPLOY / "sample" / "papers.jsonl")
    wait_for(lambda: get(api, "/search/stats").json()["index"]["documents"] >= 200, "the papers are in the index")
    env = {**os.environ, "EXPOPS_URL": deployment.url, "EXPOPS_KEY": api.key}
    done = subprocess.run([sys.executable, "-B", DEPLOY / "dev.d" / "main_job.py"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Recommended today" in done.stdout


def test_containers_are_confined(deployment):
    for container in deployment.containers():
        host = container["HostConfig"]
        assert container["Config"]["User"] == "10001:10001", container["Name"]
        assert host["ReadonlyRootfs"] and host["Memory"] > 0 and host["CapDrop"] == ["ALL"], container["Name"]
        assert container["State"]["Health"]["Status"] == "healthy", container["Name"]
        ports = [port for port, bound in container["NetworkSettings"]["Ports"].items() if bound]
        assert ports == (["8080/tcp"] if container["Config"]["Cmd"] == ["gateway"] else [])


def test_no_secret_is_seen_from_outside(deployment):
    values = [path.read_text().strip() for path in deployment.secrets.glob("*/*")]
    assert len(values) > 30
    seen = json.dumps(deployment.containers()) + deployment.compose("logs", "--no-color") + deployment.compose("config")
    assert not [value[:8] for value in values if value in seen]


def test_secrets_that_exist_are_kept(deployment):
    before = {path: path.read_bytes() for path in deployment.secrets.rglob("*") if path.is_file()}
    run(DEPLOY / "secrets", deployment.secrets)
    assert {path: path.read_bytes() for path in deployment.secrets.rglob("*") if path.is_file()} == before
    assert deployment.secrets.stat().st_mode & 0o777 == 0o700


def test_pairs_are_those_that_call_each_other(deployment):
    for folder in deployment.secrets.glob("[gs]*"):
        calls = docker("run", "--rm", IMAGE, folder.name, "--calls").split()
        path = folder / "IDENTITY_SIGN_SECRETS"
        signed = [pair.partition("=")[0] for pair in path.read_text().split()] if path.exists() else []
        assert sorted(signed) == sorted(calls), folder.name


def test_new_replicas_get_their_share(deployment, api):
    stats = lambda: get(api, "/search/stats")  # noqa: E731
    stats()
    deployment.up(svc_search=3, svc_fleet=2)
    deployment.wait_requests("svc-search", 3, stats)
    deployment.wait_requests("svc-fleet", 2, lambda: get(api, "/fleet/installations"))
    before = deployment.requests_of("svc-search")
    for _ in range(REQUESTS):
        stats()
    after = deployment.requests_of("svc-search")
    shares = {name: after[name] - before[name] for name in after}
    assert min(shares.values()) >= REQUESTS / 3 / 2, shares


def test_a_killed_replica_costs_no_reading_request(deployment, api):
    deployment.up(svc_search=3)
    deployment.wait_requests("svc-search", 3, lambda: get(api, "/search/stats"))
    docker("kill", "-s", "KILL", deployment.containers("svc-search")[0]["Id"])
    for _ in range(REQUESTS):
        get(api, "/search/stats")


def test_data_survives_a_restart_of_everything(deployment, api):
    made = api.post("/account/api-keys", json={"name": "kept"})
    assert made.status_code == 201, made.text
    deployment.compose("down", "--timeout", "60")
    deployment.up()
    assert made.json()["id"] in get(api, "/account/api-keys").text


def test_the_context_of_a_build_has_no_secrets():
    taken = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert taken and not {"deploy", "deploy/secrets.d", "deploy/k8s", "deploy/settings.env"} & set(taken)
