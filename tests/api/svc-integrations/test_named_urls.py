"""Calls of URLs that users named: those that wait, and what they are answered, take a bounded share of svc-integrations."""

import secrets
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.outside.receiver import HOST, Hanging, webhook
from lib.outside.stub_server import StubServer
from lib.wait import wait_for

SHARE_CALLS = 36  # 9 MiB, the least share of an account, of 256 KiB each
MIB = 1 << 20


@pytest.fixture(scope="module")
def process(cluster):
    process = cluster.separate("svc-integrations", "named", FETCH_MEMORY="18MiB")
    process.start()
    process.wait_ready()
    yield process
    process.stop()


@pytest.fixture
def post(cluster, process):
    """post(account, path, body): the answer of the process."""

    def post(account, path, body):
        auth = identity(cluster, "svc-integrations", account=account)
        return plain_http.post(f"{process.url}/api/v1.0{path}", json=body, auth=auth)

    return post


def key(url):
    return {"api_key": f"good-{secrets.token_hex(16)}", "base_url": url}


def test_calls_that_wait_are_a_share_of_an_account(process, post, user, other_user):
    """The servers of one account accept connections and do not answer: more calls of it are refused, and those of others are made."""
    connect = "/integrations/custom/connect"
    working = StubServer(lambda request: request.reply(200, "{}"), HOST)
    tested = webhook(user.api, f"{working.url}/")
    with ThreadPoolExecutor(SHARE_CALLS + 4) as pool, Hanging() as hanging:
        waiting = [pool.submit(post, user.account, connect, key(hanging.url)) for _ in range(SHARE_CALLS + 4)]
        ended = as_completed(waiting)
        for _ in range(4):
            refused = next(ended).result()
            assert (refused.status_code, refused.json()["error"], refused.headers["Retry-After"]) == (429, "rate_limited", "1")
            assert "outside addresses" in refused.json()["detail"]
        wait_for(lambda: len(hanging.sockets) >= SHARE_CALLS)
        assert post(user.account, f"/webhooks/{tested['id']}/test", {}).status_code == 429
        assert post(other_user.account, connect, key(working.url)).status_code == 200
        assert len(hanging.sockets) == SHARE_CALLS
        assert process.metric("expops_fetch_bytes") >= 9 * MIB
    assert {each.result().status_code for each in ended} == {502}
    assert post(user.account, f"/webhooks/{tested['id']}/test", {}).json()["delivered"]
    assert process.metric("expops_fetch_bytes") == 0
    working.close()


def test_an_answer_is_read_as_far_as_it_is_needed(process, post, user):
    """A server answers with a few KiB that become 64 MiB, and does not end. Nobody waits for more than the beginning."""
    pack = zlib.compressobj(wbits=31)
    packed = pack.compress(b"[" * 64 * MIB) + pack.flush(zlib.Z_SYNC_FLUSH)
    stopped = threading.Event()

    def answer(request):
        request.send_response(200)
        request.send_header("Content-Encoding", "gzip")
        request.send_header("Content-Length", str(len(packed) + 1))
        request.end_headers()
        request.wfile.write(packed)
        stopped.wait()

    server = StubServer(answer, HOST)
    try:
        assert post(user.account, "/integrations/custom/connect", key(server.url)).status_code == 200
        assert process.metric("expops_fetch_bytes") == 0
    finally:
        stopped.set()
        server.close()
