"""Links that were made before a connection had to prove them."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROOF = "0010_identity_proof.sql"
SCHEMA = "identities_of_before"


def migrations(folder):
    return sorted((ROOT / folder / "migrations").glob("*.sql"))


@pytest.fixture
def before(cluster):
    """A schema as it was before the migration, and what makes it as it is now."""
    own = migrations("svc-integrations")
    functions = sorted((ROOT / "svc-integrations").rglob("*.fn.sql"))
    with cluster.postgres.connect() as db:
        db.execute(f"CREATE SCHEMA {SCHEMA}")
        db.execute(f"SET search_path TO {SCHEMA}, public")
        common = migrations("libcommon/pg") + sorted((ROOT / "libcommon").rglob("*.fn.sql"))
        for file in common + [file for file in own if file.name < PROOF]:
            db.execute(file.read_text())
        yield db, [file for file in own if file.name >= PROOF] + functions
        db.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def test_only_what_a_connection_proves_stays_verified(before):
    """An email does not, since nobody asked whether the provider has verified it."""
    db, upgrade = before
    ada, grace, mallory = (f"019bb1b0-0c9d-7c47-8a4d-1d0be0a1f2a{number}" for number in range(3))
    connect = """INSERT INTO connection (account_id, provider, status, external_id, external_email, sealed)
                 VALUES (%s, 'code_host', %s, %s, %s, '')"""
    link = "INSERT INTO identity_link (account_id, source, external_id, external_email) VALUES (%s, 'code_host', %s, %s)"
    db.execute(connect, [ada, "active", "1", "ada@example.org"])
    db.execute(connect, [grace, "expired", "2", "grace@example.org"])
    db.execute(link, [ada, "1", "ada@example.org"])
    db.execute(link, [ada, "4", None])
    db.execute(link, [grace, "2", "grace@example.org"])
    db.execute(link, [mallory, "3", "mallory@example.org"])
    for file in upgrade:
        db.execute(file.read_text())
    rows = db.execute("SELECT external_id, identity_link_json(l) ->> 'status', id_verified, email_verified FROM identity_link l")
    assert {row[0]: row[1:] for row in rows} == {
        "1": ("verified", True, False),
        "2": ("unverified", False, False),
        "3": ("unverified", False, False),
        "4": ("unverified", False, False),
    }
    assert db.execute("UPDATE connection SET external_email_verified = true WHERE account_id = %s", [ada]).rowcount == 1
    assert db.execute("SELECT email_verified FROM identity_link WHERE external_id = '1'").fetchone() == (True,)
