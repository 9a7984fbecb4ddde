"""deploy/secrets gives each pair of processes that call each other a secret, which needs no container to be seen."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from lib.http.api_def import all_operations, internal_operations, process_of, public_callers, services

ROOT = Path(__file__).resolve().parents[3]
PROCESSES = [process_of(symbol) for symbol in services()]


def called():
    """{process: those that it calls}"""
    service_of = {operation.id: process_of(operation.service) for operation in all_operations()}
    pairs = {(caller, service) for _, _, service, callers in internal_operations() for caller in callers}
    pairs |= {(caller, service_of[operation]) for operation, callers in public_callers().items() for caller in callers}
    pairs |= {("gateway", process) for process in PROCESSES if process != "gateway"}
    return {process: sorted(callee for caller, callee in pairs if caller == process) for process in PROCESSES}


def test_every_pair_has_a_secret(tmp_path):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    files = {process: tmp_path / process / "IDENTITY_SIGN_SECRETS" for process in PROCESSES}
    entries = {process: path.read_text().split() if path.exists() else [] for process, path in files.items()}
    assert {process: sorted(entry.partition("=")[0] for entry in found) for process, found in entries.items()} == called()


USERS = "redis/users.acl"


def test_an_upgrade_renews_the_rights_of_redis_users(tmp_path):
    """As after a version that had fewer streams and processes: rights are those of this one, passwords and other users stay."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    made = (tmp_path / USERS).read_text()
    own = ["user default off", "user exporter reset on #1 +info"]
    lines = [line.replace("user svc-fleet reset on #", "user svc-fleet reset on #0ld #")
             for line in made.splitlines() if not line.startswith("user default ")]
    earlier = [line.replace(" ~events.audit.fleet", "") for line in lines if not line.startswith("user svc-evalenv ")]
    (tmp_path / USERS).write_text("\n".join([*earlier, *own]) + "\n")
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert sorted((tmp_path / USERS).read_text().splitlines()) == sorted([*lines, *own])


def test_users_for_redis_6_stay_so(tmp_path):
    """Redis 6.2 does not read the selectors of newer versions."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    passwords = " ".join(f"{process}=p" for process in PROCESSES)
    command = [ROOT / "deploy/redis-acl", "--redis", "6.2"]
    old = subprocess.run(command, env={**os.environ, "REDIS_PASSWORDS": passwords}, capture_output=True, text=True, check=True).stdout
    (tmp_path / USERS).write_text(old.replace(" ~events.audit.fleet", ""))
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    renewed = (tmp_path / USERS).read_text()
    assert "(" not in renewed and set(old.splitlines()) <= set(renewed.splitlines())


def settings_of_compose(process):
    environment = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"][process]["environment"]
    return {name.removesuffix("_FILE") for name in environment if name.endswith("_FILE")}


def settings_of_kubernetes(process):
    """What all processes have, and what the folder of one adds."""
    texts = [(ROOT / "deploy/k8s" / path).read_text() for path in ("process/deployment.yaml", f"base/{process}/kustomization.yaml")]
    return set(re.findall(r"name: (\w+)_FILE, value: /run/secrets/", "".join(texts)))


def secrets_of_trial(process):
    made = yaml.safe_load((ROOT / "deploy/k8s/trial/kustomization.yaml").read_text())["secretGenerator"]
    (files,) = [one["files"] for one in made if one["name"] == process]
    return {Path(file).name for file in files}


@pytest.mark.parametrize("settings", [settings_of_compose, settings_of_kubernetes, secrets_of_trial])
def test_every_deployment_passes_them_on(tmp_path, settings):
    """A process does not start without the secret of one that it calls."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert {process: settings(process) for process in PROCESSES} == {process: {path.name for path in (tmp_path / process).iterdir()} for process in PROCESSES}


@pytest.mark.parametrize(("server", "address"), [
    ("redis.example:6380", "redis://{login}@redis.example:6380/0"), ("rediss://redis.example", "rediss://{login}@redis.example/0")])
def test_redis_by_tls_or_without(tmp_path, server, address):
    subprocess.run([ROOT / "deploy/secrets", tmp_path, "--redis", server], check=True)
    url = (tmp_path / "gateway" / "REDIS_URL").read_text().strip()
    login = re.search("//(.*)@", url)[1]
    assert login.startswith("gateway:") and url == address.format(login=login)


@pytest.mark.parametrize("server", ["https://redis.example", "redis.example/0", "user@redis.example"])
def test_other_addresses_of_redis_are_refused(tmp_path, server):
    done = subprocess.run([ROOT / "deploy/secrets", tmp_path, "--redis", server], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "rediss://HOST" in done.stderr


def test_a_run_that_was_stopped_leaves_no_empty_secret(tmp_path):
    """Each secret is made from `master`."""
    part = tmp_path / "master.part"
    part.write_text("0123")  # as far as it came
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert re.fullmatch(r"[0-9a-f]{64}\n", (tmp_path / "master").read_text()) and not part.exists()


@pytest.mark.parametrize("name", ["master", "postgres/password"])
def test_an_empty_secret_is_refused(tmp_path, name):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    (tmp_path / name).write_text("")
    refused = subprocess.run([ROOT / "deploy/secrets", tmp_path], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and refused.stderr.startswith(f"{tmp_path / name} is empty")
