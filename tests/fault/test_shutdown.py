"""SIGTERM: /readyz fails first, also on the gateway's public listener, connections are still accepted for DRAIN_DELAY, and closed after their next answer."""

import pytest

from lib.http import plain_http
from lib.wait import wait_for

PATH = {"gateway": "/api/v1.0/no-such-path", "svc-experiments": "/api/v1.0/projects"}


def readiness(process):
    return plain_http.get(process.admin_url + "/readyz").status_code


@pytest.mark.parametrize("name", PATH)
def test_a_process_serves_until_the_delay_is_over(cluster, name):
    process = cluster.separate(name, "shutdown", DRAIN_DELAY="600s")
    process.start()
    process.wait_ready()
    process.terminate()
    wait_for(lambda: readiness(process) == 503, "/readyz fails")
    if name == "gateway":
        answer = plain_http.get(process.url + "/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "unready"})
        assert plain_http.get(process.url + "/healthz").status_code == 200
    for _ in range(3):
        with plain_http.client() as client:  # a new connection
            answer = client.get(process.url + PATH[name], timeout=120)
        assert answer.status_code in (401, 404)
        assert answer.headers["Connection"] == "close"
    process.stop()  # a second signal ends the delay
    assert process.popen.returncode == 0
    assert process.check() == []
