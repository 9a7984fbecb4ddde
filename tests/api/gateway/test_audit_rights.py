"""The rights on the audit log: the gateway's role adds entries and reads them, and cannot change one."""

import psycopg
import pytest

from lib.system.servers import ROOT
from lib.tables import gateway as gateway_tables


@pytest.fixture
def db(cluster):
    """As the owner of the database."""
    with cluster.postgres.connect("account") as connection:
        yield connection


@pytest.fixture
def gateway(cluster):
    """As the gateway, whose process was stolen."""
    with psycopg.connect(cluster.postgres.url("expops_gateway"), autocommit=True) as connection:
        yield connection


def actions(api):
    return [entry["action"] for entry in api.get("/account/audit?action=test.", expect=200).json()]


ATTACKS = [
    "UPDATE audit.audit SET outcome = 'done'",
    "DELETE FROM audit.audit",
    "TRUNCATE audit.audit",
    "INSERT INTO audit.audit SELECT * FROM audit.audit",
    "DROP TABLE audit.audit",
    "DROP SCHEMA audit CASCADE",
    "ALTER TABLE audit.audit OWNER TO expops_gateway",
    "ALTER TABLE audit.audit DISABLE TRIGGER ALL",
    "CREATE TABLE audit.mine ()",
    "CREATE OR REPLACE FUNCTION audit.audit_month(day date) RETURNS void LANGUAGE sql AS ''",
    "DROP FUNCTION audit.audit_month",
    "SELECT audit.audit_month(current_date)",
    "SET ROLE expops_audit",
    "GRANT expops_audit TO expops_gateway",
    "CREATE TRIGGER mine BEFORE INSERT ON audit.audit FOR EACH ROW EXECUTE FUNCTION account.event_note()",
]


@pytest.mark.parametrize("statement", ATTACKS)
def test_the_gateways_role_changes_no_entry(gateway, statement):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        gateway.execute(statement)


def test_the_gateways_role_changes_no_month(gateway, db):
    months = db.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'audit.audit'::regclass").fetchall()
    assert months
    for month, in months:
        for statement in (f"DELETE FROM {month}", f"DROP TABLE {month}", f"UPDATE {month} SET outcome = 'done'",
                          f"ALTER TABLE audit.audit DETACH PARTITION {month}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                gateway.execute(statement)


def test_no_other_process_sees_it(cluster):
    with psycopg.connect(cluster.postgres.url("expops_fleet"), autocommit=True) as fleet, pytest.raises(psycopg.errors.InsufficientPrivilege):
        fleet.execute("SELECT FROM audit.audit")


def test_whole_months_are_dropped_and_never_the_last_30_days(gateway, user, db):
    gateway_tables.add_audit(db, user.account, 1, days=200)
    gateway_tables.add_audit(db, user.account, 1, days=20)
    assert len(actions(user.api)) == 2
    assert gateway_tables.drop_audit(gateway, 100) >= 1
    gateway_tables.drop_audit(gateway, -100)  # what a stolen gateway could ask for
    assert len(actions(user.api)) == 1


@pytest.mark.parametrize("lacks", ["DROP SCHEMA audit CASCADE", "SET ROLE expops_fleet"])
def test_a_migration_without_the_log_says_what_to_do(db, lacks):
    migration = (ROOT / "gateway/migrations/0013_audit.sql").read_text()
    with pytest.raises(psycopg.errors.RaiseException, match=r"^the database has no audit log that this role may use: run deploy/init.sql of this"
                                                           r" version once, as a superuser\n"), db.transaction():
        db.execute(lacks)
        db.execute(migration)
