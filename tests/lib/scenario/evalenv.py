"""What the tests of svc-evalenv share."""

import base64
import hashlib
import hmac
import time

from lib.system.process import Process

SPEC = {"image": "registry.example.com/ranker:1", "command": ["evaluate", "--all"], "metrics": ["recall"]}
SECRET_BYTES = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(SECRET_BYTES).decode()


def signed(body, id="msg_1", at=None, secret=SECRET_BYTES):
    """The fields of a delivery as Standard Webhooks has them."""
    at = str(int(time.time() if at is None else at))
    mac = hmac.new(secret, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    return {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": "v1," + base64.b64encode(mac).decode()}


def worker(cluster, key, folder, **settings):
    """A program `svc-evalenv worker` that works in `folder`, with a key. The caller starts and stops it."""
    (folder / "work").mkdir(parents=True, exist_ok=True)
    env = {"EXPOPS_URL": cluster.gateway_url, "EXPOPS_KEY": key, "WORK_DIR": str(folder / "work"), "CLAIM_WAIT": "1s", **settings}
    return Process("worker", cluster.binary("svc-evalenv"), env, folder / "worker.log", ["worker"])
