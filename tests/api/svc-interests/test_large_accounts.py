"""Statements that read a bounded number of rows, however large an account is."""

import json
import uuid

import pytest

from lib.system.servers import ROOT
from lib.system.statements import statements_of

ACCOUNT = str(uuid.uuid4())
INTERESTS, RECOMMENDED, EXPERIMENTS = 20, 250, 20000


@pytest.fixture(scope="module")
def filled(cluster):
    """A connection, and an interest of an account with many rows."""
    with cluster.postgres.connect("interests") as db:
        db.execute("INSERT INTO paper (arxiv_id, asset, abstract) SELECT 'much-' || n, '{}', '' FROM generate_series(1, 1000) n")
        db.execute(
            "INSERT INTO interest (account_id, name, context, project_id) "
            "SELECT %s, 'much ' || n, 'x', gen_random_uuid() FROM generate_series(1, %s) n",
            [ACCOUNT, INTERESTS],
        )
        db.execute(
            "INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning) "
            "SELECT i.id, i.account_id, 'much-' || n, 1, random(), 1, '' FROM interest i, generate_series(1, %s) n "
            "WHERE i.account_id = %s",
            [RECOMMENDED, ACCOUNT],
        )
        db.execute(
            "INSERT INTO experiment (id, account_id, version, told_at, name, status, arxiv_ids) "
            "SELECT gen_random_uuid(), %s, 1, now(), 'e' || n, 'running', ARRAY['much-' || (500 + n %% 500)] "
            "FROM generate_series(1, %s) n",
            [ACCOUNT, EXPERIMENTS],
        )
        db.execute(
            "INSERT INTO experiment (id, account_id, version, told_at, name, status, project_id, arxiv_ids) "
            "SELECT gen_random_uuid(), account_id, 1, now() - n * interval '1 s', 'p' || n, 'running', project_id, '{}' "
            "FROM (SELECT * FROM interest WHERE account_id = %s AND name = 'much 1') i, generate_series(1, %s) n",
            [ACCOUNT, EXPERIMENTS],
        )
        db.execute("ANALYZE")
        db.execute("SET enable_seqscan = off")
        yield db, db.execute("SELECT id FROM interest WHERE account_id = %s AND name = 'much 1'", [ACCOUNT]).fetchone()[0]
        for table in ("interest", "experiment"):
            db.execute(f"DELETE FROM {table} WHERE account_id = %s", [ACCOUNT])


def statement(noun, name):
    return statements_of(ROOT / "svc-interests" / f"{noun}.sql")[name]


def plan(db, noun, name, *values):
    """The nodes of the plan after running the statement with these values, with the rows that each has read."""
    db.execute("DEALLOCATE ALL")
    db.execute(f"PREPARE one AS {statement(noun, name)}".encode())
    given = ", ".join("NULL" if value is None else f"'{value}'" for value in values)
    (found,) = db.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE one ({given})".encode(), prepare=False).fetchone()
    nodes, left = [], [found[0]["Plan"]]
    while left:
        node = left.pop()
        nodes.append(node)
        left += node.get("Plans", [])
    return nodes


def rows_read(nodes, relation):
    return sum((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
               for node in nodes if node.get("Relation Name") == relation)


def rows_fetched(db, relation):
    """The rows that the transaction has read so far, also in functions."""
    query = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE schemaname = 'interests' AND relname = %s"
    return db.execute(query, [relation]).fetchone()[0]


def test_history_reads_a_bounded_number_of_experiments(filled):
    """The project has many experiments, and so have the recommended papers; the newest 100 are shown."""
    db, interest = filled
    with db.transaction():
        query = statement("api/interest", "interest_get").replace("$1", "%(account)s").replace("$2", "%(ids)s").replace("$3", "%(shown)s")
        _, shown, _ = db.execute(query, {"account": [ACCOUNT], "ids": [str(interest)], "shown": ["all"]}).fetchone()
        assert 100 <= rows_fetched(db, "experiment") <= 400
    assert json.loads(shown)["experiment_history"].splitlines() == [f"- p{n} (running)" for n in range(1, 101)]


@pytest.mark.parametrize("interest", [True, False])
def test_list_reads_the_papers_of_the_page_only(filled, interest):
    db, one = filled
    nodes = plan(db, "api/recommendation", "recommendation_list", ACCOUNT, one if interest else None, "all", 20, 0, None)
    assert rows_read(nodes, "paper") == 20


def test_digest_reads_its_papers_only(filled):
    db, _ = filled
    nodes = plan(db, "digest/digest", "digest_get", ACCOUNT, "all", 5, None, None, 100, 0)
    assert 0 < rows_read(nodes, "paper") <= 5 * INTERESTS, "at most one for each recommendation shown"


def test_a_rename_reads_the_links_to_its_repository_only(filled):
    """It would read those of all accounts for each name that one gives its repository."""
    db, interest = filled
    with db.transaction(force_rollback=True):
        db.execute("INSERT INTO run_outcome (account_id, url, version, stage)"
                   " SELECT %s, 'https://github.com/Much/r' || n || '/pull/1', 1, 'open' FROM generate_series(1, %s) n", [ACCOUNT, RECOMMENDED])
        db.execute("UPDATE interest SET source_repo_url = 'https://github.com/much/r7' WHERE id = %s", [interest])
        before = {table: rows_fetched(db, table) for table in ("run_outcome", "interest")}
        db.execute("SELECT repository_move('much/R7', 'much/new', 'https://github.com')")
        for table, count in before.items():
            assert rows_fetched(db, table) - count <= 50, table
        moved = "SELECT array_agg(url) FROM run_outcome WHERE account_id = %s AND url NOT LIKE '%%/r%%'"
        assert db.execute(moved, [ACCOUNT]).fetchone() == (["https://github.com/much/new/pull/1"],)
        query = "SELECT source_repo_url FROM interest WHERE id = %s"
        assert db.execute(query, [interest]).fetchone() == ("https://github.com/much/new",)
