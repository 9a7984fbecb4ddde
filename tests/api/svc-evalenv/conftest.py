"""Fixtures of the tests of svc-evalenv."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.http import plain_http
from lib.http.api_def import scope_mask
from lib.http.identity import identity
from lib.scenario.evalenv import SPEC
from lib.wait import PATIENCE_SECONDS


@pytest.fixture
def db(cluster):
    """A connection to the schema, as the owner of the database."""
    with cluster.postgres.connect("evalenv") as connection:
        yield connection


@pytest.fixture
def template(api):
    """template(**members): a new template."""
    numbers = iter(range(1000))

    def make(**members):
        body = {"name": f"template {next(numbers)}", "spec": SPEC, **members}
        return api.post("/eval-env/templates", body, expect=201).json()

    return make


@pytest.fixture
def operator_api(cluster):
    """A client with the operator's scopes, of an account of its own."""
    return cluster.user(operator=True).api


@pytest.fixture
def claim_build(api):
    """claim_build(): the next build of the account, for a worker."""

    def claim(**members):
        return api.post("/eval-env/builds/claim", {"worker": "test", **members}, expect=200).json()

    return claim


class Bounded:
    """A replica of svc-evalenv, asked directly."""

    def __init__(self, cluster, process, user):
        self.cluster, self.process, self.user = cluster, process, user

    def request(self, method, path, body, user=None, scopes="eval:write"):
        sender = identity(self.cluster, "svc-evalenv", account=(user or self.user).account, scopes=scope_mask(*scopes.split()))
        return plain_http.request(method, f"{self.process.url}/api/v1.0{path}", json=body, auth=sender, timeout=PATIENCE_SECONDS)

    def post(self, path, body, user=None, scopes="eval:write"):
        return self.request("POST", path, body, user, scopes)


@pytest.fixture
def bounded(cluster, user):
    """bounded(**settings): a replica with other bounds."""
    processes = []

    def start(**settings):
        process = cluster.separate("svc-evalenv", f"bounded-{len(processes)}", **settings)
        processes.append(process)
        process.start()
        process.wait_ready()
        return Bounded(cluster, process, user)

    yield start
    for process in processes:
        process.stop()
        assert process.check() == []


@pytest.fixture
def at_once():
    """at_once(n, f): the results of f(0) to f(n - 1), called at the same time."""

    def call(count, function):
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(function, range(count)))

    return call
