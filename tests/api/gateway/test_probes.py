"""What a load balancer with one port asks, and which version answers."""

import re

from lib.http import plain_http
from lib.system.servers import ROOT


def test_a_load_balancer_needs_no_key(cluster):
    answers = {path: plain_http.get(cluster.gateway_url + path) for path in ("/healthz", "/readyz")}
    assert {path: (answer.status_code, answer.json()) for path, answer in answers.items()} == {
        "/healthz": (200, {"status": "ok"}),
        "/readyz": (200, {"status": "ready"}),
    }
    assert {answer.headers["Cache-Control"] for answer in answers.values()} == {"no-store"}


def test_the_version_is_that_of_the_build(cluster):
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
    answer = plain_http.get(cluster.gateway_url + "/api/v1.0/version")
    assert answer.status_code == 200
    made = answer.json()
    printed = cluster.run("gateway", "--version")
    assert (made["name"], made["version"], made["api"]) == ("expops", version, "v1.0")
    assert printed == f"gateway {version} ({made['commit']})\n"
