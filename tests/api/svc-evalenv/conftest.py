"""Fixtures of the tests of svc-evalenv."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.scenario.evalenv import SPEC


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


@pytest.fixture
def at_once():
    """at_once(n, f): the results of f(0) to f(n - 1), called at the same time."""

    def call(count, function):
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(function, range(count)))

    return call
