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
