"""Whether anything of an account has changed, in any schema."""

from lib.scenario.deletion import TABLES
from lib.system.servers import read_processes

# The foreign keys of a schema: table, column, and what they refer to.
REFERENCES = """SELECT c.relname, a.attname, p.relname, b.attname
                FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
                JOIN pg_attribute a ON (a.attrelid, a.attnum) = (k.conrelid, k.conkey[1])
                JOIN pg_attribute b ON (b.attrelid, b.attnum) = (k.confrelid, k.confkey[1])
                WHERE k.contype = 'f' AND k.connamespace = %s::regnamespace"""

# What a trigger holds in place of a foreign key, by schema.
BY_TRIGGER = {"interests": [("pool_entry", "interest_id", "interest", "id")]}


class OwnedRows:
    """Everything that the schemas have of an account, but what changes by itself."""

    # Transport, what the code host told, and what each gateway has counted since it last wrote.
    UNSTABLE = {"outbox", "idempotency", "repo_fetch", "repo_access", "repository_access", "run_status", "code_host_item",
                "installation_lookup", "key_usage"}
    COLUMNS = "{last_used_at,told_at,asked_at}"

    def __init__(self, cluster, account):
        self.parameters = {"account": account}
        self.db = cluster.postgres.connect()
        self.owned = {}  # {table: which of its rows are the account's}
        for _, schema, _ in read_processes():
            own = {name: "account_id = %(account)s" for name, in self.db.execute(TABLES, [schema]).fetchall()}
            self.follow(schema, own, self.db.execute(REFERENCES, [schema]).fetchall() + BY_TRIGGER.get(schema, []))
            self.owned |= {f"{schema}.{name}": rows for name, rows in own.items() if name not in self.UNSTABLE}

    def follow(self, schema, own, references):
        """Add the tables whose rows refer to those of the account, until there is no other."""
        for table, column, parent, key in references:
            if table not in own and parent in own:
                own[table] = f"{column} IN (SELECT {key} FROM {schema}.{parent} WHERE {own[parent]})"
                return self.follow(schema, own, references)
        return own

    def is_quiet(self):
        """Whether nothing is at work for the account."""
        tasks = [f"SELECT FROM {table} WHERE {rows} AND status IN ('pending', 'running')"
                 for table, rows in self.owned.items() if table.endswith(".task")]
        return self.db.execute(" UNION ALL ".join(tasks), self.parameters).fetchone() is None

    def read(self):
        """{table: digest}"""
        parts = [f"SELECT '{table}', md5(coalesce(string_agg(row, ' ' ORDER BY row), ''))"
                 f" FROM (SELECT (to_jsonb(t) - '{self.COLUMNS}'::text[])::text AS row FROM {table} t WHERE {rows}) AS rows"
                 for table, rows in self.owned.items()]
        return dict(self.db.execute(" UNION ALL ".join(parts), self.parameters).fetchall())
