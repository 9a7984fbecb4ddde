"""Postgres refuses rows that break a rule, whoever writes them."""

import psycopg
import pytest

TASK = {"kind": "'k'"}
RUNNING = {"status": "'running'", "attempts": "1", "lease_until": "now()", "lease_owner": "'p'"}
COMPLETED = {"status": "'completed'", "finished_at": "now()"}
INTEREST = {"account_id": "gen_random_uuid()", "name": "'n'", "context": "'c'"}

VALID = [
    ("task", TASK),
    ("task", RUNNING),
    ("task", COMPLETED | {"result": "'{}'", "progress": "100"}),
    ("task", COMPLETED | {"status": "'failed'", "error": "'e'", "attempts": "2", "interruptions": "2"}),
    ("interest", INTEREST | {"name": "repeat('n', 200)", "context": "repeat('c', 50000)", "daily_count": "50"}),
    ("interest", INTEREST | {"pool_status": "'stale'", "daily_count": "1"}),
]

INVALID = [
    ("task", {"kind": "''"}),
    ("task", {"status": "'unknown'"}),
    ("task", {"progress": "101"}),
    ("task", {"progress": "-1"}),
    ("task", {"input": "'[]'"}),
    ("task", {"result": "'{}'"}),
    ("task", {"error": "'e'"}),
    ("task", {"attempts": "-1"}),
    ("task", {"attempts_max": "0"}),
    ("task", {"interruptions": "1"}),
    ("task", {"lease_until": "now()"}),
    ("task", {"lease_owner": "'p'"}),
    ("task", {"finished_at": "now()"}),
    ("task", RUNNING | {"lease_until": "NULL"}),
    ("task", RUNNING | {"lease_owner": "NULL"}),
    ("task", COMPLETED | {"finished_at": "NULL"}),
    ("interest", INTEREST | {"name": "''"}),
    ("interest", INTEREST | {"name": "repeat('n', 201)"}),
    ("interest", INTEREST | {"context": "''"}),
    ("interest", INTEREST | {"context": "repeat('c', 50001)"}),
    ("interest", INTEREST | {"daily_count": "0"}),
    ("interest", INTEREST | {"daily_count": "51"}),
    ("interest", INTEREST | {"pool_status": "'unknown'"}),
]


def insert(cluster, table, values):
    """Insert a row and roll it back."""
    values = TASK | values if table == "task" else values
    with cluster.postgres.connect("interests") as db, db.transaction(force_rollback=True):
        db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(values.values())})")


@pytest.mark.parametrize("table, values", VALID)
def test_a_row_that_obeys_the_rules_is_stored(cluster, table, values):
    insert(cluster, table, values)


@pytest.mark.parametrize("table, values", INVALID)
def test_a_row_that_breaks_a_rule_is_refused(cluster, table, values):
    with pytest.raises(psycopg.errors.CheckViolation) as refused:
        insert(cluster, table, values)
    assert refused.value.diag.constraint_name == f"{table}_valid"


# Of a paper that is not stored. The rule is a trigger of the statement, so that the row of the paper need not be locked.
OF_NO_PAPER = {
    "pool_entry": "pool_version, relevance, matched) SELECT id, 'unknown', 1, 0.5, '[]'",
    "recommendation": "account_id, context_version, relevance_score, rank, reasoning) SELECT id, 'unknown', account_id, 1, 0.5, 1, ''",
}


@pytest.mark.parametrize("table", OF_NO_PAPER)
def test_a_row_of_a_paper_that_is_not_stored_is_refused(cluster, table):
    with cluster.postgres.connect("interests") as db, pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
        with db.transaction(force_rollback=True):
            db.execute(f"INSERT INTO interest ({', '.join(INTEREST)}) VALUES ({', '.join(INTEREST.values())})")
            db.execute(f"INSERT INTO {table} (interest_id, arxiv_id, {OF_NO_PAPER[table]} FROM interest LIMIT 1")
    assert refused.value.diag.constraint_name == "paper_required"


def test_a_vector_of_a_paper_that_is_not_stored_is_refused(cluster):
    with cluster.postgres.connect("interests") as db, pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
        db.execute("INSERT INTO paper_vector (arxiv_id, embedder, vector, scale) VALUES ('unknown', 'e', '', 1)")
    assert refused.value.diag.constraint_name == "paper_required"


def test_a_candidate_of_no_interest_is_refused(cluster):
    with cluster.postgres.connect("interests") as db, pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
        db.execute("INSERT INTO pool_entry (interest_id, pool_version, arxiv_id, relevance, matched)"
                   " VALUES (gen_random_uuid(), 1, 'unknown', 0.5, '[]')")
    assert refused.value.diag.constraint_name == "interest_required"


@pytest.mark.parametrize("statement", ["DELETE FROM paper", "TRUNCATE paper CASCADE"])
def test_papers_stay(cluster, statement):
    with cluster.postgres.connect("interests") as db, pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
        db.execute(statement)
    assert refused.value.diag.constraint_name == "paper_stays"
