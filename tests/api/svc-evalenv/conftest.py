"""Fixtures of the tests of svc-evalenv."""

import pytest

from lib.evalenv import SPEC


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
