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


# What names an account for a reason: the notes that it was deleted, the event that says so until no restore can need it, the entry of
# the audit log that says who deleted it, the code host's deliveries as they were received, tokens until their provider has revoked them,
# and, for a day, that its keys have changed.
KEPT = {"deleted_account", "account_guard", "delivery", "revocation", "key_change"}
SAYS_SO = {"outbox": "type", "audit": "action"}  # {the begin of the table's name: the column that is `account.deleted`}
TEXTS = """SELECT table_schema, table_name FROM information_schema.tables
           WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')"""


def is_kept(table):
    return table in KEPT or table.startswith("delivery_2")


def traces(cluster, names):
    """Where one of the names is: {"schema.table", stream}."""
    patterns = [f"%{name}%" for name in names]
    found = set()
    with cluster.postgres.connect() as db:
        for schema, table in db.execute(TEXTS).fetchall():
            column = SAYS_SO.get(table.partition("_")[0])
            others = f"t.{column} <> 'account.deleted' AND" if column else ""
            if not is_kept(table) and db.execute(f'SELECT FROM "{schema}"."{table}" t WHERE {others} t::text ILIKE ANY (%s) LIMIT 1', [patterns]).rowcount:
                found.add(f"{schema}.{table}")
    redis = cluster.redis.client()
    for key in redis.scan_iter(count=1000, _type="stream"):
        text = str(redis.xrange(key)).lower()
        found |= {key for name in names if name.lower() in text}
    return found
