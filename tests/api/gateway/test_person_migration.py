"""Accounts that were made before there were persons, and those that the release before still makes."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PERSONS = "0011_person.sql"
SCHEMA = "accounts_of_before"
MAKE_KEY = """INSERT INTO api_key (account_id, name, kind, prefix, hash, scopes, expires_at)
              VALUES (%s, 'a key', %s, 'usr_', sha256(%s::bytea), '{search:read}', now() + interval '1 day') RETURNING id"""


@pytest.fixture
def before(cluster):
    """A schema as it was before the migration, and what makes it as it is now."""
    own = sorted((ROOT / "gateway" / "migrations").glob("*.sql"))
    functions = sorted((ROOT / "libcommon").rglob("*.fn.sql")), sorted((ROOT / "gateway").rglob("*.fn.sql"))
    with cluster.postgres.connect() as db:
        db.execute(f"CREATE SCHEMA {SCHEMA}")
        db.execute(f"SET search_path TO {SCHEMA}, public")
        db.execute("SET check_function_bodies = off")
        common = sorted((ROOT / "libcommon/pg/migrations").glob("*.sql"))
        for file in [*common, *functions[0], *(file for file in own if file.name < PERSONS)]:
            db.execute(file.read_text())
        yield db, [*(file for file in own if file.name >= PERSONS), *functions[1]]
        db.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def make_account(db, email, is_operator=False):
    """As the release before does."""
    return db.execute("INSERT INTO account (email, is_operator) VALUES (%s, %s) ON CONFLICT (lower(email))"
                      " DO UPDATE SET is_operator = account.is_operator OR excluded.is_operator RETURNING id",
                      [email, is_operator]).fetchone()[0]


def members(db):
    """[(account, address, role, operator)]"""
    return db.execute("SELECT m.account_id, p.email, m.role, p.is_operator FROM member m JOIN person p ON p.id = m.person_id"
                      " ORDER BY p.email").fetchall()


def test_each_account_has_a_person_who_owns_it_and_its_keys(before):
    db, upgrade = before
    ada, grace = make_account(db, "Ada@example.org"), make_account(db, "grace@example.org", is_operator=True)
    keys = {db.execute(MAKE_KEY, [account, kind, f"{account}{kind}"]).fetchone()[0]: email
            for account, email in ((ada, "Ada@example.org"), (grace, "grace@example.org")) for kind in ("personal", "automation")}
    for file in upgrade:
        db.execute(file.read_text())
    assert members(db) == [(ada, "Ada@example.org", "owner", False), (grace, "grace@example.org", "owner", True)]
    assert dict(db.execute("SELECT o.key_id, p.email FROM api_key_person o JOIN person p ON p.id = o.person_id").fetchall()) == keys
    assert db.execute("SELECT count(*) FROM person WHERE email_verified").fetchone()[0] == 2


def test_what_the_release_before_writes_has_persons_too(before):
    db, upgrade = before
    for file in upgrade:
        db.execute(file.read_text())
    ada = make_account(db, "ada@example.org")
    assert members(db) == [(ada, "ada@example.org", "owner", False)]
    assert make_account(db, "ADA@example.org", is_operator=True) == ada
    assert members(db) == [(ada, "ada@example.org", "owner", True)]
    db.execute("DELETE FROM account WHERE id = %s", [ada])
    assert members(db) == [] and db.execute("SELECT count(*) FROM person").fetchone()[0] == 0
