"""Load as programs make it behind a load balancer, with keep-alive connections; and what they saw.

    with Load(cluster.user(), cluster["gateway"]) as load:
        ...                         # disturb the cluster
    load.failures, load.total       # [Failure], how many requests
    load.broken()                   # promises that were broken: accepted writes that are missing

A client keeps its connection until the gateway closes it, and then takes a new one to a gateway that was ready when it was last
asked, as a Kubernetes Service does. Each request that is not answered as it should be is a failure. Nothing is tried again but what a
server says that it has not handled (lib.http.plain_http.is_unhandled()).
"""

import http.client
import json
import random
import secrets
import threading
import time
from collections import Counter
from dataclasses import dataclass

import httpx

from lib.http import plain_http
from lib.http.client import PREFIX
from lib.wait import PATIENCE_SECONDS, wait_for

READS = ["/account/api-keys", "/search/stats", "/interests", "/experiments?limit=5", "/integrations/connections", "/fleet/runs",
         "/eval-env/templates"]  # fmt: skip
TEMPLATES, CLAIM = "/eval-env/templates", "/eval-env/builds/claim"
CLAIM_SECONDS = 2


@dataclass
class Failure:
    at: float  # time.monotonic()
    request: str
    outcome: str
    seconds: float
    answer: object = None  # (status, fields) when there was one


class Balancer:
    """Knows which gateways were ready when they were last asked."""

    def __init__(self, gateways, period):
        self.gateways, self.period = gateways, period
        self.ready, self.is_over = list(gateways), threading.Event()

    def probe(self):
        while not self.is_over.wait(self.period):
            ready = [gateway for gateway in self.gateways if gateway.is_running and self.answers(gateway)]
            self.ready = ready or self.ready

    def answers(self, gateway):
        try:
            return plain_http.get(gateway.admin_url + "/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def connect(self):
        host, _, port = random.choice(self.ready).env["LISTEN"].partition(":")
        return http.client.HTTPConnection(host, int(port), timeout=PATIENCE_SECONDS)


class Client:
    """One connection, on which reads and writes follow each other."""

    def __init__(self, load):
        self.load, self.connection = load, None
        self.total, self.failures, self.seconds = 0, [], []
        self.made, self.uncertain = [], set()  # names of experiments
        self.experiment = None                 # id of the last one
        self.template = None
        self.hypothesis, self.possible = None, set()

    def exchange(self, method, path, body):
        """An answer and its content."""
        fields = {"Authorization": f"Bearer {self.load.user.key}", "Content-Type": "application/json"}
        self.connection = self.connection or self.load.balancer.connect()
        self.connection.request(method, PREFIX + path, None if body is None else json.dumps(body), fields)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.will_close:
            self.leave()
        return answer, content

    def leave(self):
        self.connection.close()
        self.connection = None

    def send(self, method, path, body=None, expect=(200,)):
        """The answer's object; None: the request failed."""
        began, answer = time.monotonic(), None
        try:
            answer, content = self.exchange(method, path, body)
            if plain_http.is_unhandled(answer.status, answer.getheader("Content-Length")):
                answer, content = self.exchange(method, path, body)
            outcome = f"{answer.status} {content[:200]}" if answer.status not in expect else None
        except (OSError, http.client.HTTPException) as error:
            outcome = repr(error)
            self.leave()
        seconds = time.monotonic() - began
        self.total += 1
        self.seconds.append(seconds)
        if outcome is None:
            return json.loads(content) if content else {}
        told = answer and (answer.status, dict(answer.getheaders()))
        self.failures.append(Failure(began, f"{method} {path}", outcome, seconds, told))
        return None

    def run(self):
        steps = [self.read] * 5 + [self.search, self.create, self.update, self.update, self.define]
        while not self.load.is_over.is_set():
            random.choice(steps)()

    def claim(self):
        """A long poll: there is never any work."""
        while not self.load.is_over.is_set():
            self.send("POST", CLAIM, {"worker": "load", "wait_seconds": CLAIM_SECONDS}, expect=(204,))

    def read(self):
        self.send("GET", random.choice(READS))

    def search(self):
        self.send("POST", "/search/assets", {"query": "retrieval"})

    def create(self):
        name = secrets.token_hex(8)
        made = self.send("POST", "/experiments", {"name": name}, expect=(201,))
        if made is None:
            self.uncertain.add(name)
            return
        self.made.append(name)
        self.experiment, self.hypothesis, self.possible = made["id"], None, set()

    def update(self):
        if not self.experiment:
            return
        value = secrets.token_hex(8)
        if self.send("PUT", f"/experiments/{self.experiment}", {"hypothesis": value}) is None:
            self.possible.add(value)
        else:
            self.hypothesis, self.possible = value, set()

    def define(self):
        """An account may have a number of templates, so the first is changed from then on."""
        body = {"name": secrets.token_hex(8), "spec": {"image": "i:1", "metrics": ["recall"]}}
        if self.template:
            self.send("PUT", f"{TEMPLATES}/{self.template}", body)
        elif made := self.send("POST", TEMPLATES, body, expect=(201,)):
            self.template = made["template_id"]


class Load:
    """`clients` connections, and one that claims work. `period`: seconds between two looks at which gateways are ready."""

    def __init__(self, user, gateways, clients=6, period=0.1):
        self.user, self.is_over = user, threading.Event()
        self.balancer = Balancer(gateways, period)
        self.clients = [Client(self) for _ in range(clients)]
        self.claimer = Client(self)
        runs = [self.balancer.probe, *(client.run for client in self.clients), self.claimer.claim]
        self.threads = [threading.Thread(target=run) for run in runs]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.balancer.is_over.set()
        for thread in self.threads:
            thread.join()

    @property
    def total(self):
        return sum(client.total for client in (*self.clients, self.claimer))

    @property
    def failures(self):
        return [failure for client in (*self.clients, self.claimer) for failure in client.failures]

    def seconds(self):
        """How long requests took, without claims; the shortest first."""
        return sorted(one for client in self.clients for one in client.seconds)

    def go_on(self, requests):
        """Wait until so many more requests were answered."""
        goal = self.total + requests
        wait_for(lambda: self.total >= goal, f"{requests} more requests")

    def broken(self):
        """What of the accepted writes is missing, or was done twice."""
        found, offset = Counter(), 0
        while page := self.user.api.get(f"/experiments?limit=100&offset={offset}", expect=200).json():
            found.update(one["name"] for one in page)
            offset += len(page)
        for client in self.clients:
            yield from (f"{name} was accepted and is there {found[name]} times" for name in client.made if found[name] != 1)
            yield from (f"{name} is there {found[name]} times" for name in client.uncertain if found[name] > 1)
            if client.experiment:
                value = self.user.api.get(f"/experiments/{client.experiment}", expect=200).json()["hypothesis"]
                if value != client.hypothesis and value not in client.possible:
                    yield f"an update of {client.experiment} was accepted and is lost"
