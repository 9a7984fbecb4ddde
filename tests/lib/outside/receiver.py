"""Receivers of messages, and messages for them."""

import json
import secrets
import socket
import subprocess
import threading
import uuid
from datetime import datetime, timezone
from pathlib import Path

from lib.outside.stub_server import StubServer
from lib.wait import wait_for

VERIFY = Path(__file__).with_name("verify_standard_webhook.mjs")
HOST = "127.0.0.2"  # which FETCH_ALLOW lists

class Receiver:
    """A web server that is an endpoint. `got` lists what it has received, (headers with names in lower case, body as bytes); each is
    answered by `answer(request)`, by default 204."""

    def __init__(self, answer=None, host=HOST):
        self.got, self.lock = [], threading.Lock()
        self.answer = answer or (lambda request: request.reply(204, ""))
        self.server = StubServer(self.handle, host)
        self.url = f"{self.server.url}/{secrets.token_hex(4)}"

    def handle(self, request):
        with self.lock:
            self.got.append(({name.lower(): value for name, value in request.headers.items()}, request.body))
        self.answer(request)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.close()

    def ids(self):
        return [headers["webhook-id"] for headers, _ in list(self.got)]

    def bodies(self):
        return [json.loads(body) for _, body in list(self.got)]

    def wait(self, count):
        """Wait until so many requests have come; returns their bodies."""
        wait_for(lambda: len(self.got) >= count, f"{count} messages at {self.url}, not {len(self.got)}")
        return self.bodies()


class Hanging:
    """A server that accepts connections and never answers."""

    def __init__(self):
        self.sockets, self.socket = [], socket.create_server((HOST, 0))
        self.url = f"http://{HOST}:{self.socket.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                self.sockets.append(self.socket.accept()[0])
            except OSError:
                return

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()
        for each in self.sockets:
            each.close()


def status(code, **headers):
    """An answer for Receiver."""
    return lambda request: request.reply(code, "", **headers)


def verify(secret, requests):
    """What the package standardwebhooks says of requests of Receiver.got: `ok`, or why it is refused, for each."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    lines = [json.dumps({"secret": secret, "headers": {name: headers[name] for name in names}, "body": body.decode()})
             for headers, body in requests]
    done = subprocess.run(["node", VERIFY], input="\n".join(lines), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Sender:
    """Tells messages of an account with any data, by entries of the event streams."""

    def __init__(self, cluster, account):
        self.cluster, self.account = cluster, account

    def send(self, *datas, type="test.ping", stream="events.runs"):
        """One message for each of `datas`; their ids as receivers see them."""
        ids = [uuid.uuid4() for _ in datas]
        with self.cluster.redis.client().pipeline() as redis:
            for id, data in zip(ids, datas):
                redis.xadd(stream, self.entry(id, type, data))
            redis.execute()
        return [f"msg_{id.hex}" for id in ids]

    def entry(self, id, type, data):
        """The fields of an entry (task/outbox.h)."""
        at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        return {"id": str(id), "type": "message", "account": self.account, "at": at, "data": json.dumps({"type": type, "data": data})}


def webhook(api, url, **changes):
    """A new endpoint."""
    body = {"kind": "webhook", "url": url, "events": ["*"], **changes}
    return api.post("/webhooks", body, expect=201).json()
