"""deploy/init.sql by the administrator of a managed server, who owns the database and may make roles, and is no superuser."""

import os
import subprocess

import psycopg
import pytest

from lib.system.servers import ROOT, Servers
from lib.tables import roles

ADMINISTRATOR, DATABASE = "administrator", "managed"


@pytest.fixture
def postgres():
    servers = Servers()
    servers.postgres.start()
    try:
        yield servers.postgres
    finally:
        servers.__exit__()


@pytest.fixture
def make_roles(postgres):
    """make_roles(role): run deploy/init.sql as a role."""
    with psycopg.connect(postgres.url(database="postgres"), autocommit=True) as server:
        roles.make_administrator(server, ADMINISTRATOR, postgres.role_password(ADMINISTRATOR), DATABASE)
    env = {**os.environ, "SERVICE_PASSWORDS": postgres.service_passwords()}

    def run(*role):
        done = subprocess.run(["psql", "-X", postgres.url(*role, database=DATABASE), "-f", ROOT / "deploy" / "init.sql"], env=env,
                              capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    return run


def test_the_administrator_of_a_managed_server_makes_the_roles(postgres, make_roles):
    make_roles(ADMINISTRATOR)
    make_roles(ADMINISTRATOR)
    with psycopg.connect(postgres.url("expops_gateway", DATABASE), autocommit=True) as gateway:
        assert roles.uses_its_own(gateway)
        assert roles.keeps_to_its_own(gateway)


def test_a_service_keeps_no_rights_over_the_server(postgres, make_roles):
    make_roles()
    with psycopg.connect(postgres.url(database=DATABASE), autocommit=True) as server:
        roles.give_rights(server, "expops_gateway")
        make_roles()
        assert not roles.has_rights(server, "expops_gateway")
