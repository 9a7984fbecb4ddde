"""Builds follow a repository that is renamed, however many there are of others."""

import pytest

from lib.tables import evalenv as evalenv_tables

BUILDS = 2000


@pytest.mark.parametrize("old, new, found", [
    ("Much/R00007", "much/new", "much/new"),
    ("much/r00008", "much/New", "https://github.com/much/New.git"),
])  # fmt: skip
def test_a_rename_reads_what_names_its_repository_only(db, user, old, new, found):
    """It would read the builds of all accounts for each name that one gives its repository."""
    with db.transaction(force_rollback=True):
        evalenv_tables.fill_builds(db, user.account, BUILDS)
        before = evalenv_tables.rows_fetched(db)
        evalenv_tables.move_repository(db, old, new)
        assert evalenv_tables.rows_fetched(db) - before <= 50
        assert evalenv_tables.repositories(db, user.account, "%/_ew%") == ([found], [found])
