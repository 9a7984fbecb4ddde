"""Waiting for the deletion of an account to reach a service."""

from lib.wait import wait_for

# Returns a row if the deletion is done, or waits for a lock that a writer of the account holds.
DELETION = (
    "SELECT FROM pg_locks WHERE locktype IN ('transactionid', 'tuple') AND NOT granted "
    "UNION ALL SELECT FROM deleted_account WHERE id = %s"
)


def wait_deletion(db, account):
    """Wait until the service whose schema `db` uses has received the deletion of the account."""
    wait_for(lambda: db.execute(DELETION, [account]).fetchone() is not None, "the deletion has arrived")


# Every table with rows of accounts, but the notes of deleted ones.
TABLES = """SELECT c.table_name FROM information_schema.columns c
            JOIN information_schema.tables t USING (table_schema, table_name)
            WHERE c.table_schema = %s AND c.column_name = 'account_id' AND t.table_type = 'BASE TABLE'"""


def tables_with(db, schema, account):
    """The tables of the schema that have something of the account."""
    names = [name for name, in db.execute(TABLES, [schema]).fetchall()]
    found = {name for name in names if db.execute(f"SELECT FROM {name} WHERE account_id = %s", [account]).rowcount}
    db.commit()
    return found
