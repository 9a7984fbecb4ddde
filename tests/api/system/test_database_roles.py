"""deploy/init.sql by the administrator of a managed server, who owns the database and may make roles, and is no superuser."""

import os
import subprocess

import psycopg
import pytest

from lib.system.servers import ROOT, Servers

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
        server.execute(f"CREATE ROLE {ADMINISTRATOR} LOGIN CREATEROLE PASSWORD '{postgres.role_password(ADMINISTRATOR)}'")
        server.execute(f"CREATE DATABASE {DATABASE} OWNER {ADMINISTRATOR}")
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
        gateway.execute("CREATE TABLE of_its_own ()")
        assert gateway.execute("SELECT count(*) FROM audit.audit").fetchone() == (0,)
        for refused in ("CREATE TABLE search.of_others ()", "SET ROLE expops_search", "CREATE TABLE public.of_all ()", "DELETE FROM audit.audit"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                gateway.execute(refused)


def test_a_service_keeps_no_rights_over_the_server(postgres, make_roles):
    make_roles()
    with psycopg.connect(postgres.url(database=DATABASE), autocommit=True) as server:
        server.execute("ALTER ROLE expops_gateway SUPERUSER CREATEDB CREATEROLE")
        make_roles()
        rights = server.execute("SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = 'expops_gateway'").fetchone()
    assert rights == (False,)
