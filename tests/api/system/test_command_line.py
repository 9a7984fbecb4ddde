"""What a process prints instead of serving, and secrets in files."""

import re
import subprocess

import pytest

from lib.system.servers import ROOT
from lib.wait import wait_for


def run(cluster, name, option, **changes):
    settings = {**cluster.settings(name, "command"), **changes}
    env = {variable: value for variable, value in settings.items() if value is not None}
    return subprocess.run([cluster.binary(name), option], env=env, capture_output=True, text=True, check=False)


VERSION = re.search(r"^  version: '([0-9.]+)'", (ROOT / "meson.build").read_text(), re.MULTILINE)[1]


def test_every_process_tells_its_version_and_commit(cluster):
    for name in cluster.processes:
        text = run(cluster, name, "--version").stdout
        assert re.fullmatch(rf"{name} {re.escape(VERSION)} \(([0-9a-f]{{12}}(-dirty)?|unknown)\)\n", text), text


def test_the_description_has_the_version(anonymous):
    assert anonymous.get("/openapi.json", expect=200).json()["info"]["version"] == VERSION


def test_whether_a_process_is_ready(cluster):
    ready = cluster["gateway"][0]
    done = run(cluster, "gateway", "--ready", ADMIN_LISTEN=ready.env["ADMIN_LISTEN"], http_proxy="http://127.0.0.1:1")
    assert done.returncode == 0 and '"status":"ready"' in done.stdout
    alone = run(cluster, "gateway", "--ready", ADMIN_LISTEN="127.0.0.1:1")
    assert alone.returncode == 1 and "127.0.0.1:1: " in alone.stderr


def test_readiness_by_a_unix_socket(cluster, tmp_path):
    listen = f"unix:{tmp_path}/admin"
    assert run(cluster, "gateway", "--ready", ADMIN_LISTEN=listen).returncode == 1
    process = cluster.separate("gateway", "command-line", ADMIN_LISTEN=listen)
    process.start()
    try:
        wait_for(lambda: run(cluster, "gateway", "--ready", ADMIN_LISTEN=listen).returncode == 0, "the gateway ready")
    finally:
        process.stop()


SECRETS = ["DATABASE_URL", "REDIS_URL", "IDENTITY_SIGN_SECRETS", "IDENTITY_VERIFY_SECRETS", "SEAL_SECRETS", "SEAL_KEYS"]


@pytest.mark.parametrize("variable", SECRETS)
def test_a_secret_is_read_from_a_file(cluster, tmp_path, variable):
    value = cluster.settings("svc-evalenv", "command")[variable]
    file = tmp_path / "secret"
    file.write_text(value + "\n")
    shown = run(cluster, "svc-evalenv", "--show-config", **{variable: None, f"{variable}_FILE": str(file)})
    assert shown.returncode == 0 and f"\n{variable}=***\n" in shown.stdout
    assert value not in shown.stdout + shown.stderr
    both = run(cluster, "svc-evalenv", "--show-config", **{f"{variable}_FILE": str(file)})
    assert both.returncode == 2
    assert both.stderr == f"{variable} and {variable}_FILE: only one of them may be set\n"


@pytest.mark.parametrize("service", ["GATEWAY", "EXPERIMENTS", "EVALENV"])
def test_the_address_of_a_service_is_checked(cluster, service):
    done = run(cluster, "svc-interests", "--show-config", **{f"{service}_URL": "gateway.example"})
    assert done.returncode == 2
    assert done.stderr == f"{service}_URL: must be http://host:port or unix:/path\n"


@pytest.mark.parametrize("url", ["expops.example.org", "ftp://expops.example.org", "https://expops.example.org/?x=1", "https://a b"])
def test_a_public_url_of_another_form_is_refused(cluster, url):
    done = run(cluster, "svc-interests", "--show-config", PUBLIC_URL=url)
    assert done.returncode == 2
    assert done.stderr == "PUBLIC_URL: must be an http or https URL without query and fragment\n"


@pytest.mark.parametrize(("file", "reason"), [("/nonexistent", "no such file or directory"), ("/etc/hostname", "has no certificate")])
def test_a_process_without_authorities_for_redis_does_not_start(cluster, file, reason):
    command = [cluster.binary("svc-fleet")]
    settings = cluster.settings("svc-fleet", "command", REDIS_URL="rediss://redis.example", REDIS_CA_FILE=file)
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"REDIS_CA_FILE: {file}") and reason in done.stderr
