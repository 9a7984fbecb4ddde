"""Accounts that are deleted while something of theirs is being made."""

from lib.wait import wait_for

# The deletion of an account waits for whoever makes something of it, or has been.
DELETION = (
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
    "UNION ALL SELECT FROM deleted_account WHERE id = %s"
)


def wait_deletion(db, account):
    """Until word of the account's deletion has come to the service whose schema `db` sees."""
    wait_for(lambda: db.execute(DELETION, [account]).fetchone() is not None, "the deletion has come")
