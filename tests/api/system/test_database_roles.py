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
    """make_roles(role): run deploy/init.sql as a role, with the passwords of all services."""
    with psycopg.connect(postgres.url(database="postgres"), autocommit=True) as server:
        roles.make_administrator(server, ADMINISTRATOR, postgres.role_password(ADMINISTRATOR), DATABASE)

    def run(*role, passwords=postgres.service_passwords()):
        env = {**os.environ, "SERVICE_PASSWORDS": passwords}
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


@pytest.mark.parametrize("role", [[], [ADMINISTRATOR]], ids=["superuser", "administrator"])
def test_settings_come_back_without_passwords(postgres, make_roles, role):
    """As a process says whose role lacks one: "run deploy/init.sql again"."""
    make_roles(*role)
    with psycopg.connect(postgres.url(database=DATABASE), autocommit=True) as server:
        before = roles.settings_of(server)
        roles.reset_settings(server, "expops_fleet", "expops_gateway")
        assert roles.settings_of(server) != before
        make_roles(*role, passwords="")
        assert roles.settings_of(server) == before
    with psycopg.connect(postgres.url("expops_fleet", DATABASE)):
        pass  # by the same password
