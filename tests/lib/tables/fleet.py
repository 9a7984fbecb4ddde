"""Tables of svc-fleet."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg


# What the code host tells


def own_repository(db, account, repo):
    """The account has proved that it may push to the repository."""
    db.execute("SELECT repo_own(%s, %s)", [account, repo])


def disown_repository(db, repo):
    db.execute("DELETE FROM owned_repo WHERE repo_key = lower(%s)", [repo])


def age_experiment(db, experiment, days):
    """The account was heard to say so long ago what it says of an experiment and its pull request."""
    db.execute("UPDATE experiment SET told_at = told_at - make_interval(days => %s), pr_status_at = pr_status_at - make_interval(days => %s)"
               " WHERE id = %s", [days, days, experiment])


def heard_of_experiment(db, experiment, days):
    """Whether something of it was heard within so many days."""
    return db.execute("SELECT told_at > now() - make_interval(days => %s) FROM experiment WHERE id = %s", [days, experiment]).fetchone()[0]


def tell_item(db, repo, kind, number, state, opened, closed, at=None):
    """What an event says of a pull request or issue. `at`: when it was so; None: now."""
    db.execute("SELECT code_host_item_update(%s, %s, %s, %s, %s, %s, coalesce(%s, clock_timestamp()), false)",
               [repo, kind, number, state, opened, closed, at])


def revert_item(db, repo, number, at, by=900):
    """The code host tells that a pull request was reverted by another one."""
    db.execute("SELECT reverts_note(%s, NULL, NULL, jsonb_build_array(jsonb_build_object('target', '#' || %s::int, 'by', '#' || %s::int)), %s)",
               [repo, number, by, at])


def add_items(db, repo, count):
    """So many pull requests of a repository, from the number 1001 on, that no run has opened."""
    db.execute("INSERT INTO code_host_item (repo_key, kind, number, state) SELECT lower(%s), 'pull_request', 1000 + n, 'open' "
               "FROM generate_series(1, %s) n", [repo, count])


def items_read(db, repo, name):
    """How many pull requests are read to know what reverted one of them."""
    db.execute("SET LOCAL enable_seqscan = off")
    db.execute("SET LOCAL enable_bitmapscan = off")
    query = "SELECT sum(pg_stat_get_xact_tuples_fetched(indexrelid))::int FROM pg_index WHERE indrelid = 'code_host_item'::regclass"
    before = db.execute(query).fetchone()[0]
    db.execute("SELECT FROM reverts_of(lower(%s), %s)", [repo, name])
    return db.execute(query).fetchone()[0] - before


def items_written(db):
    """How many pull requests and issues the transaction has written anew."""
    return db.execute("SELECT pg_stat_get_xact_tuples_updated('code_host_item'::regclass)").fetchone()[0]


def hold_item(db, repo, number):
    """Begin a transaction that holds what is known of a pull request."""
    db.execute("BEGIN")
    db.execute("SELECT FROM code_host_item WHERE repo_key = lower(%s) AND kind = 'pull_request' AND number = %s FOR UPDATE", [repo, number])


def is_item_free(db, repo, number):
    """Whether nobody holds what is known of a pull request."""
    rows = db.execute("SELECT FROM code_host_item WHERE repo_key = lower(%s) AND kind = 'pull_request' AND number = %s FOR UPDATE SKIP LOCKED",
                      [repo, number])
    return rows.rowcount == 1


def hold_deliverable(db, account, url):
    """Begin a transaction that holds what an account's run opened."""
    db.execute("BEGIN")
    db.execute("SELECT FROM deliverable WHERE account_id = %s AND url = %s FOR UPDATE", [account, url])


def is_deliverable_free(db, account, url):
    rows = db.execute("SELECT FROM deliverable WHERE account_id = %s AND url = %s FOR UPDATE SKIP LOCKED", [account, url])
    return rows.rowcount == 1


def told_stages(db, url):
    """The stages that others were told of a pull request, in their order."""
    rows = db.execute("SELECT data ->> 'stage' FROM outbox WHERE type LIKE 'deliverable.%%' AND data ->> 'url' = %s "
                      "ORDER BY (data ->> 'version')::bigint", [url]).fetchall()
    return [stage for (stage,) in rows]


def items_of(db, repo):
    """[(number, state)] of what the code host has told of a repository's pull requests and issues."""
    return db.execute("SELECT number, state FROM code_host_item WHERE repo_key = lower(%s)", [repo]).fetchall()


def item_told_at(db, repo, number):
    """When a pull request was so as the code host has told last, as `2026-01-31T09:30:00`."""
    return db.execute("SELECT to_char(told_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') FROM code_host_item "
                      "WHERE repo_key = lower(%s) AND kind = 'pull_request' AND number = %s", [repo, number]).fetchone()[0]


def forget_items(db, repo):
    db.execute("DELETE FROM code_host_item WHERE repo_key = lower(%s)", [repo])


def fetch_later(db, repo, minutes):
    """What was fetched of a repository is up to date until so many minutes from now."""
    db.execute("UPDATE repo_fetch SET fetched_at = now() + make_interval(mins => %s) WHERE repo_key = lower(%s)", [minutes, repo])


def begin_fetch(db, repo):
    """Another refresh of a repository begins, an hour from now."""
    db.execute("UPDATE repo_fetch SET tried_at = now() + interval '1 hour' WHERE repo_key = lower(%s)", [repo])


def is_fetched_until_now(db, repo):
    """Whether the next refresh of a repository asks for what has changed since now, or before."""
    return db.execute("SELECT fetched_at <= now() FROM repo_fetch WHERE repo_key = lower(%s)", [repo]).fetchone()[0]


def set_item_closed(db, repo, number, at):
    """A pull request was closed at that time, of which the code host has told no more."""
    own = [repo, number, at, at]
    db.execute("SELECT code_host_item_update(%s, 'pull_request', %s, 'closed', NULL, %s, %s, false)", own)


def age_fetch(db, repo):
    """A repository was tried to be fetched an hour before."""
    db.execute("UPDATE repo_fetch SET tried_at = tried_at - interval '1 hour' WHERE repo_key = lower(%s)", [repo])


def tell_run(db, repo, **run):
    """What an event says of a run of the repository's workflow."""
    db.execute("SELECT workflow_runs_update(%s, %s)", [repo, json.dumps([run])])


def age_access(db, repo):
    """Who may see a repository was asked five minutes before."""
    db.execute("UPDATE repo_access SET asked_at = asked_at - interval '5 minutes' WHERE repo_key = lower(%s)", [repo])


def lose_access(db, account, repo):
    db.execute("INSERT INTO repo_access (account_id, repo_key, repo, lost_at) VALUES (%s, lower(%s), %s, now())", [account, repo, repo])


def name_of(db, number):
    """What the repository of this number is called; None: it is not known."""
    row = db.execute("SELECT name FROM repository WHERE number = %s", [number]).fetchone()
    return row and row[0]


# The newest run of a repository, as it is remembered


def age_status(db, repo, seconds):
    """What was asked and told of the repository's newest run was so many seconds earlier."""
    db.execute("UPDATE run_status SET asked_at = asked_at - make_interval(secs => %s), told_at = told_at"
               " - make_interval(secs => %s) WHERE repo_key = lower(%s)", [seconds, seconds, repo])


def ask_later(db, repo):
    """The code host is not asked for an hour."""
    db.execute("UPDATE run_status SET asked_at = greatest(asked_at, now()) + interval '1 hour' WHERE repo_key = lower(%s)", [repo])


def remembered_status(db, repo):
    """(what the code host said, when)"""
    return db.execute("SELECT told, told_at FROM run_status WHERE repo_key = lower(%s)", [repo]).fetchone()


def remember_status(db, account, repo, told, at=None):
    """An answer of the code host arrives. `at`: when it was asked for; None: now."""
    db.execute("SELECT run_status_update(%s, %s, %s, coalesce(%s, now()))", [account, repo, json.dumps(told), at])


# Runs


def store_together(db, reports):
    """Store reports in one statement, as a replica does with those that arrive together."""
    db.execute("SELECT runs_update(%s)", [json.dumps(reports)])


def large_pages_read(db):
    """How many pages of large members of runs the transaction has read."""
    query = ("SELECT sum(pg_stat_get_xact_blocks_fetched(c.reltoastrelid)) FROM pg_partition_tree('run_detail') p"
             " JOIN pg_class c ON c.oid = p.relid")
    return db.execute(query).fetchone()[0]


def candidate_places(db, account):
    """The rows of the candidates of the account's runs, as they lie in the table: a row that is written again lies elsewhere."""
    return db.execute("SELECT array_agg(ctid::text ORDER BY arxiv_id) FROM candidate WHERE account_id = %s", [account]).fetchone()[0]


def add_tokens(db, account, number):
    """The account's runs of each day have used so many tokens more."""
    db.execute("UPDATE run_day SET input_tokens = input_tokens + %s, output_tokens = output_tokens + %s WHERE account_id = %s",
               [number, number, account])


def forget_costs_above(db, usd):
    db.execute("UPDATE run SET cost_usd = NULL WHERE cost_usd > %s", [usd])


def forget_spend(db, account):
    """The account's runs as the former version has stored them."""
    db.execute("UPDATE run SET attempts = NULL, spend_usd = NULL, spend_basis = NULL WHERE account_id = %s", [account])


def runs_by_repository(db, prefix):
    """{repository: runs} of those whose name begins with the prefix."""
    return dict(db.execute("SELECT repo_key, count(*) FROM run WHERE repo_key LIKE %s GROUP BY 1", [prefix + "%"]))


def removed_runs(db, prefix):
    """The repositories, whose name begins with the prefix, of runs that were removed."""
    return [repo for (repo,) in db.execute("SELECT repo_key FROM run_removed WHERE repo_key LIKE %s", [prefix + "%"])]


def age_texts(db):
    """All texts about runs were made two minutes before: a pause after a failure of the model is over."""
    db.execute("UPDATE run_text SET made_at = made_at - interval '2 minutes'")


def deadlocks(db):
    """How many there were in the database."""
    return db.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()[0]


def rename(db, account, former, now):
    """The account's runs and budgets of a repository are under its new name."""
    db.execute("SELECT budgets_move(%(account)s, %(former)s, %(now)s), runs_move(%(account)s, %(former)s, %(now)s)",
               {"account": account, "former": former, "now": now})


def rename_installations(db, account, former, now):
    """The account's agents on a repository are under its new name."""
    db.execute("SELECT installations_move(%s, %s, %s, 'https://github.com')", [account, former, now])


# Budgets


def add_budgets(db, account, count):
    """So many budgets of repositories that the account does not have."""
    db.execute("INSERT INTO budget (account_id, scope, target, repo, period, usd, action, warn_percent, time_zone, week_starts, "
               "former_time_zone, former_week_starts) "
               "SELECT %s, 'repo', 'r/' || n, 'r/' || n, 'day', 1, 'warn', '{}', 'UTC', 1, 'UTC', 1 FROM generate_series(1, %s) n",
               [account, count])


def spend_of(db, account):
    """(USD, runs) of all runs of the account"""
    return db.execute("SELECT sum(spend_usd)::float8, count(*) FROM run WHERE account_id = %s", [account]).fetchone()


def count_from_ever(db, budget):
    """The budget is older than all runs."""
    db.execute("UPDATE budget SET counted_from = '-infinity' WHERE id = %s", [budget])


def set_time_zone(db, budget, zone):
    """As if the budget had been given the zone before it was taken out of the database of time zones."""
    db.execute("UPDATE budget SET time_zone = %s WHERE id = %s", [zone, budget])


def sums_of_periods(db, budget):
    """What is reserved, assumed and counted in all periods of a budget."""
    return list(db.execute("SELECT sum(reserved), sum(assumed), sum(runs) FROM budget_period WHERE budget_id = %s", [budget]).fetchone())


def drop_periods(db, budget):
    db.execute("DELETE FROM budget_period WHERE budget_id = %s", [budget])


@contextmanager
def refusing(db, table, condition, error="division_by_zero"):
    """Each row that is written to the table and of which the condition is true raises. With `query_canceled` that is as a statement ends
    that takes too long."""
    db.execute(f"CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE {error}; END'")
    db.execute(f"CREATE TRIGGER refuse_row BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION refuse_row()")
    try:
        yield
    finally:
        db.execute(f"DROP TRIGGER refuse_row ON {table}")
        db.execute("DROP FUNCTION refuse_row")


def calendar_period(db, period, zone, week_starts, moment):
    """(start, end) of the period of the calendar that has the moment."""
    return db.execute("SELECT starts_at, ends_at FROM calendar_period(%s, %s, %s, %s)", [period, zone, week_starts, moment]).fetchone()


def hold_period(db, budget):
    """Begin a transaction that holds the figures of a budget's present period, which has some."""
    db.execute("BEGIN")
    assert db.execute("SELECT FROM budget_period WHERE budget_id = %s AND ends_at > now() FOR UPDATE", [budget]).rowcount == 1


def hold_budget(db, budget):
    """Begin a transaction that holds a budget, as one does that starts a run."""
    db.execute("BEGIN")
    db.execute("SELECT FROM budget WHERE id = %s FOR NO KEY UPDATE", [budget])


def is_budget_free(db, budget):
    """Whether nobody holds a budget."""
    return db.execute("SELECT FROM budget WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED", [budget]).rowcount == 1


def hold_admission(db, account):
    """Begin a transaction that holds when runs of the account's repositories last asked, as one does that asks."""
    db.execute("BEGIN")
    assert db.execute("SELECT FROM admission WHERE account_id = %s FOR UPDATE", [account]).rowcount


def hold_run(db, account, run_id):
    """Begin a transaction that holds a run, as one does that stores a report of it."""
    db.execute("BEGIN")
    assert db.execute("SELECT FROM run WHERE account_id = %s AND run_id #>> '{}' = %s FOR UPDATE", [account, str(run_id)]).rowcount == 1


def is_run_free(db, account, run_id):
    """Whether nobody holds a run."""
    rows = db.execute("SELECT FROM run WHERE account_id = %s AND run_id #>> '{}' = %s FOR UPDATE SKIP LOCKED", [account, str(run_id)])
    return rows.rowcount == 1


def reprice_runs(db):
    """Estimate anew what the oldest runs cost, as the command does."""
    db.execute("SELECT spend_reprice('2020-01-01', NULL, NULL)")


def hold_sums(db, account, repo):
    """Begin a transaction that holds the sums of an account's runs on a repository."""
    db.execute("BEGIN")
    db.execute("SELECT FROM run_repo WHERE account_id = %s AND repo_key = lower(%s) FOR UPDATE", [account, repo])


def is_period_free(db, budget):
    """Whether nobody holds the figures of a budget."""
    return db.execute("SELECT FROM budget_period WHERE budget_id = %s FOR UPDATE SKIP LOCKED", [budget]).rowcount == 1


def periods_of(db, budget):
    """[(start, end)] of the budget's period and of the one after it."""
    row = db.execute("SELECT p.starts_at, p.ends_at, n.starts_at, n.ends_at"
                     " FROM budget b, budget_period_at(b, now()) p, budget_period_at(b, p.ends_at) n WHERE b.id = %s", [budget]).fetchone()
    return row[:2], row[2:]


def begin_time_zone(db, budget):
    """The time zone that the budget has from the end of a period on holds since a minute ago."""
    db.execute("UPDATE budget SET zone_since = now() - interval '1 minute' WHERE id = %s", [budget])


def set_figures(db, budget, reported, runs):
    """The budget has other figures than its runs."""
    db.execute("UPDATE budget_period SET reported = %s, runs = %s WHERE budget_id = %s", [reported, runs, budget])


def make_check_due(db, budget):
    """The budget was compared with its runs almost a day ago."""
    db.execute("UPDATE budget SET checked_at = now() - interval '21 hours' WHERE id = %s", [budget])


def reservations(db, account):
    """[(state, run, USD)] of what was reserved for the account, in its order."""
    return db.execute("SELECT state, (run_id #>> '{}')::bigint, amount_usd::float8 FROM reservation WHERE account_id = %s ORDER BY id",
                      [account]).fetchall()


def pass_a_day(db, account):
    """What was asked and reserved for the account was a day ago."""
    db.execute("UPDATE idempotency SET created_at = created_at - interval '24 hours' WHERE account_id = %s", [account])
    db.execute("UPDATE reservation SET made_at = made_at - interval '24 hours' WHERE account_id = %s", [account])


def take_start(db, account, key, run_id):
    """In a transaction: a run has asked, and has taken what its start reserved."""
    db.execute("BEGIN")
    assert db.execute("UPDATE reservation SET run_id = to_jsonb(%s::int) WHERE account_id = %s AND key = %s", [run_id, account, key]).rowcount == 1


def start_again(db, account, key, repo):
    """In a transaction: a start asks again."""
    db.execute("BEGIN")
    db.execute("SELECT run_reserve(%s, %s)", [account, json.dumps({"key": key, "repo": repo})])


def start_at_once(cluster, account, repo, connections=10, starts=100):
    """Whether each start was allowed: so many by each connection, as replicas have them, all at once."""
    def replica(number):
        with cluster.postgres.connect("fleet") as db:
            asked = ({"key": f"{number} {n}", "repo": repo, "agent": "agent_three", "provider": "openai", "obeys_max_usd": True} for n in range(starts))
            return [db.execute("SELECT run_reserve(%s, %s) -> 'allowed'", [account, json.dumps(each)]).fetchone()[0] for each in asked]

    with ThreadPoolExecutor(connections) as pool:
        return [allowed for of_replica in pool.map(replica, range(connections)) for allowed in of_replica]


def reserved_repositories(db, account):
    """The repositories of what is reserved for the account."""
    return [repo for (repo,) in db.execute("SELECT repo_key FROM reservation WHERE account_id = %s", [account])]


def make_expiry_due(db, account):
    db.execute("UPDATE reservation SET expires_at = now() WHERE account_id = %s", [account])


def pass_reservations(db, account, minutes):
    """So many minutes pass, and what is reserved for the account and is due then expires."""
    db.execute("UPDATE reservation SET expires_at = expires_at - %s * interval '1 minute' WHERE account_id = %s", [minutes, account])
    expire_due(db, account)


def expire_reservations(db, account):
    """What is reserved for the account is due to expire, and expires."""
    make_expiry_due(db, account)
    expire_due(db, account)


def expire_due(db, account):
    for (due,) in db.execute("SELECT id FROM reservation WHERE account_id = %s AND state = 'held' ORDER BY id", [account]).fetchall():
        db.execute("SELECT reservation_expire_due(%s)", [due])


def age_reservations(db, account):
    """What is reserved for the account was made a day ago, which may be in another period of its budgets."""
    db.execute("UPDATE reservation SET made_at = made_at - interval '25 hours' WHERE account_id = %s", [account])


def move_to_yesterday(db, account):
    """What is reserved for the account was reserved yesterday, and of budgets of a day those of yesterday."""
    day = "interval '1 day'"
    db.execute(f"UPDATE reservation SET made_at = made_at - {day} WHERE account_id = %s", [account])
    db.execute(f"UPDATE budget_period p SET starts_at = p.starts_at - {day}, ends_at = p.ends_at - {day} FROM budget b"
               " WHERE p.account_id = %s AND b.id = p.budget_id AND b.period = 'day'", [account])


def hold_repo_sums(db, account):
    """Hold the sums of the account's repositories, as a transaction does that stores reports."""
    db.execute("SELECT FROM run_repo WHERE account_id = %s FOR UPDATE", [account])


def free_periods(db, account):
    """How many periods of the account's budgets nobody holds."""
    return db.execute("SELECT FROM budget_period WHERE account_id = %s FOR UPDATE SKIP LOCKED", [account]).rowcount


def age_admissions(db, account, days):
    """The account's runs have last asked so many days ago."""
    db.execute("UPDATE admission SET asked_at = now() - %s * interval '1 day' WHERE account_id = %s", [days, account])


def compare_costs(db, account):
    """Compare the account's runs with those before them, as the process does twice a minute. Whether none is left."""
    while db.execute("SELECT is_done FROM cost_look_account(%s)", [account]).fetchone()[0]:
        pass
    return has_compared_costs(db, account)


def look_again(db, account):
    """All runs of the account are to be compared."""
    db.execute("INSERT INTO cost_look (account_id, run, first_at) SELECT account_id, id, first_at FROM run WHERE account_id = %s"
               " ON CONFLICT DO NOTHING", [account])


def has_compared_costs(db, account):
    """Whether no run of the account waits to be compared."""
    return db.execute("SELECT FROM cost_look WHERE account_id = %s", [account]).rowcount == 0


def is_due_soon(db, account):
    """Whether what is reserved for the account expires in ten minutes."""
    return db.execute("SELECT bool_and(expires_at <= now() + interval '10 minutes') FROM reservation WHERE account_id = %s", [account]).fetchone()[0]


def add_price(db, model, input, output):
    """A price of a model of the provider `custom`."""
    db.execute("INSERT INTO price VALUES ('custom', %s, '2026-01-01', NULL, %s, NULL, NULL, %s, '2026-01-01', 'https://x.example')",
               [model, input, output])


def remove_price(db, model):
    db.execute("DELETE FROM price WHERE model = %s", [model])


def set_reserved(db, budget, usd):
    """The budget has another figure than its reservations."""
    db.execute("UPDATE budget_period SET reserved = %s WHERE budget_id = %s", [usd, budget])


def hold_repository(db, repo):
    """In a transaction: who notes a run of the repository waits until it ends."""
    db.execute("BEGIN")
    db.execute("SELECT repo_lock(%s)", [repo])


# Installations


def install(db, account, repo, days=0, key=None):
    """An agent that was installed so many days ago, with a key."""
    db.execute("INSERT INTO installation (account_id, repo_key, repo, agent, key_id, installed_at)"
               " VALUES (%s, lower(%s), %s, 'agent_one', %s, now() - %s * interval '1 day')", [account, repo, repo, key or uuid.uuid4(), days])


def key_ends(db, account, key, hours):
    """A key of which the gateway has told ends in so many hours."""
    db.execute("INSERT INTO key_expiring AS k (account_id, key_id, name, repo, expires_at)"
               " VALUES (%s, %s, 'agent_one', NULL, now() + %s * interval '1 hour')"
               " ON CONFLICT (account_id, key_id) DO UPDATE SET expires_at = excluded.expires_at", [account, key, hours])


def known_keys(db, account):
    """How many keys are kept that end soon or have ended."""
    return db.execute("SELECT count(*) FROM key_expiring WHERE account_id = %s", [account]).fetchone()[0]


def age_installation(db, installation, days):
    db.execute("UPDATE installation SET installed_at = now() - %s * interval '1 day' WHERE id = %s", [days, installation])


def lack_model_key(db, account, is_missing):
    db.execute("UPDATE installation SET model_key_missing = %s WHERE account_id = %s", [is_missing, account])


def revoke_installations(db, account):
    db.execute("UPDATE installation SET status = 'revoked', revoked_at = now() WHERE account_id = %s", [account])


def lack(db, account, setup_url):
    """The setup of the account's agents waits to be merged, and their model's key is missing."""
    db.execute("UPDATE installation SET setup_url = %s, model_key_missing = true WHERE account_id = %s", [setup_url, account])


# Locks of repositories


def lock_repository(connection, repo):
    """Until the connection's transaction ends, nothing of the repository's runs can be stored."""
    connection.execute("SELECT repo_lock(%s)", [repo])


def add_locks(db, owner, count):
    """Rows of locks that nobody holds: OWNER/1, OWNER/2, ..."""
    db.execute("INSERT INTO repo_guard (repo_key) SELECT %s || '/' || n FROM generate_series(1, %s) n ON CONFLICT DO NOTHING", [owner, count])


def locks_of(db, owner):
    rows = db.execute("SELECT repo_key FROM repo_guard WHERE repo_key LIKE %s || '/%%' ORDER BY repo_key", [owner])
    return [repo for (repo,) in rows]


# Messages and the inbox


def empty_outbox(db, account):
    """The account's events have left the outbox, as after some days."""
    db.execute("DELETE FROM outbox WHERE account_id = %s", [account])


def told_facts(db, account):
    """What the account was told, and when: facts of which no second message is made."""
    return [fact for (fact,) in db.execute("SELECT fact FROM deliverable_told WHERE account_id = %s ORDER BY fact", [account])]


def age_told_fact(db, account, fact, days):
    """The account was told a fact that many days before, in a month that still has its partition."""
    db.execute("SELECT partition_add_date(ARRAY['deliverable_told'], 'month', (now() AT TIME ZONE 'UTC')::date - %s)", [days])
    db.execute("UPDATE deliverable_told SET told_on = told_on - %s WHERE account_id = %s AND fact = %s", [days, account, fact])


def drop_old_facts(db):
    """As the process does once a day."""
    db.execute("SELECT told_months_keep()")


def open_hours_ago(db, account, hours):
    """What the account's runs have opened has waited that long."""
    db.execute("UPDATE deliverable SET opened_at = now() - %s * interval '1 hour' WHERE account_id = %s", [hours, account])


def look_at_inbox(db, account):
    """The account's inbox has to be looked at now."""
    db.execute("SELECT inbox_mark(%s, clock_timestamp())", [account])


def look_later(db, account):
    """The account's inbox is looked at in a day, and not before unless something happens."""
    db.execute("INSERT INTO inbox_look VALUES (%s, now() + interval '1 day') ON CONFLICT (account_id) DO UPDATE SET look_at = excluded.look_at",
               [account])


def is_look_free(db, account):
    """Whether nobody holds when the account's inbox is looked at next."""
    return db.execute("SELECT FROM inbox_look WHERE account_id = %s FOR UPDATE SKIP LOCKED", [account]).rowcount == 1


def has_looked(db, account):
    """The account's inbox need not be looked at in the next ten minutes."""
    due = "SELECT FROM inbox_look WHERE account_id = %s AND look_at < clock_timestamp() + interval '10 minutes'"
    return db.execute(due, [account]).rowcount == 0


def hours_until_look(db, account):
    """When the account's inbox is looked at next."""
    return db.execute("SELECT extract(epoch FROM look_at - now()) / 3600 FROM inbox_look WHERE account_id = %s", [account]).fetchone()[0]


def age_told_items(db, account, days):
    """The account was told of the items of its inbox so many days ago."""
    db.execute("UPDATE inbox_told SET told_at = now() - %s * interval '1 day' WHERE account_id = %s", [days, account])


def heard_hours_ago(db, account, hours):
    """The account's agents were last heard of that long ago."""
    db.execute("UPDATE run_repo SET last_at = now() - %s * interval '1 hour' WHERE account_id = %s", [hours, account])


def heard_with_last_run(db, account):
    """The account's agents were last heard of when their last run says."""
    db.execute("UPDATE run_repo SET last_at = run.at FROM run WHERE run.id = last_id AND run_repo.account_id = %s", [account])


def add_silent_account(db, account):
    """An account without a key whose agent is silent and whose inbox is to be looked at first; it can be told of nothing."""
    db.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE division_by_zero; END'")
    db.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON inbox_told FOR EACH ROW WHEN (NEW.account_id = '{account}') EXECUTE FUNCTION refuse()")
    db.execute("INSERT INTO run_repo VALUES (%s, 'a/b', 'a/b', 1, 0, 0, 0, 0, 1, 0, 0, now(), uuid_v7(), now(), 'failed', 'failed')", [account])
    install(db, account, "a/b", days=8)
    heard_hours_ago(db, account, 8 * 24)
    db.execute("UPDATE inbox_look SET look_at = '-infinity' WHERE account_id = %s", [account])


def drop_silent_account(db, account):
    db.execute("DROP TRIGGER IF EXISTS refuse ON inbox_told")
    db.execute("DROP FUNCTION IF EXISTS refuse")
    for table in ("installation", "run_repo", "inbox_look"):
        db.execute(f"DELETE FROM {table} WHERE account_id = %s", [account])


# Papers that runs considered


def candidates_of(db, account):
    """[(run, paper, gate)] of the account."""
    return db.execute("SELECT run, arxiv_id, gate FROM candidate WHERE account_id = %s", [account]).fetchall()


def forget_candidates(db, account):
    db.execute("DELETE FROM candidate WHERE account_id = %s", [account])


def lock_runs(db, account):
    """Until the connection's transaction ends, nothing can be written to the runs of the account."""
    db.execute("SELECT FROM run WHERE account_id = %s FOR UPDATE", [account])


def let_reminders_be_due(db, experiment, kinds):
    """The reminders of an experiment are there, and become due now."""
    rows = db.execute("UPDATE experiment_reminder SET due_at = now() WHERE experiment_id = %s RETURNING kind", [experiment]).fetchall()
    return {kind for (kind,) in rows} == set(kinds)


def days_until_reminder(db, experiment):
    """When the first reminder of an experiment is due; None: it has none."""
    return db.execute("SELECT extract(epoch FROM min(due_at) - now())::float / 86400 FROM experiment_reminder WHERE experiment_id = %s",
                      [experiment]).fetchone()[0]


def reminders(db, experiment):
    """{kind: (name of the experiment, when it is due)}"""
    rows = db.execute("SELECT kind, name, due_at FROM experiment_reminder WHERE experiment_id = %s", [experiment]).fetchall()
    return {kind: (name, due_at) for kind, name, due_at in rows}


def told_items(db, account):
    """The items of the inbox that the account was told of."""
    return [item for (item,) in db.execute("SELECT item FROM inbox_told WHERE account_id = %s", [account]).fetchall()]


def age_candidates(db, account, repo, run_id, days):
    """The run considered its papers so many days ago."""
    db.execute("UPDATE candidate c SET first_at = now() - make_interval(days => %s) FROM run r WHERE r.account_id = %s AND r.repo_key = %s "
               "AND r.run_id = to_jsonb(%s::int) AND c.run = r.id", [days, account, repo, run_id])


def forget_rejections(db, days):
    """Delete what runs passed over longer ago; how many."""
    return db.execute("SELECT rejections_forget(%s, 10000)", [days]).fetchone()[0]


def considered(db, account):
    """[(run_id, paper)] of what the account's runs considered."""
    return db.execute("SELECT (r.run_id #>> '{}')::int, c.arxiv_id FROM candidate c JOIN run r ON r.id = c.run WHERE c.account_id = %s", [account]).fetchall()


def make_month(db, day):
    """Make the partitions of a month, with the owner of the others."""
    db.execute("SELECT run_partitions_make(%s, 1)", [day])
    owner = db.execute("SELECT tableowner FROM pg_tables WHERE schemaname = 'fleet' AND tablename = 'run'").fetchone()[0]
    for parent in ("run", "run_detail"):
        db.execute(f"ALTER TABLE {parent}_{day:%Y%m} OWNER TO {owner}")


def has_month(db, month):
    """Whether there is a partition of details of this month, such as `202605`."""
    return db.execute("SELECT to_regclass('run_detail_' || %s) IS NOT NULL", [month]).fetchone()[0]


def drop_details(db, days):
    """Drop the details of the first month that ended so many days ago; whether there was one. None: somebody holds the table."""
    try:
        return db.execute("SELECT run_detail_month_drop(%s, false)", [days]).fetchone()[0]
    except psycopg.errors.LockNotAvailable:
        return None


def drop_runs_of(db, month):
    db.execute(f"DROP TABLE run_{month}")


# The present day


def today(db):
    """(runs that started today, what they cost, pull requests that were merged today) of all accounts, by the runs themselves."""
    return db.execute(
        "SELECT (SELECT count(*) FROM run WHERE (at AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date), "
        "(SELECT coalesce(sum(run_cost(run)), 0)::float8 FROM run WHERE (at AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date), "
        "(SELECT count(DISTINCT url) FROM deliverable WHERE kind = 'pull_request' AND stage = 'merged' AND closed_at >= date_trunc('day', now(), 'UTC'))"
    ).fetchone()


# Retention


def age_run(db, account, repo, run_id, at):
    """A run was first heard of at that time."""
    key = [at, account, repo, str(run_id)]
    db.execute("UPDATE run_key SET first_at = %s WHERE account_id = %s AND repo_key = %s AND run_key = %s", key)
    db.execute("UPDATE run_detail d SET first_at = %s FROM run r WHERE r.account_id = %s AND r.repo_key = %s AND r.run_id #>> '{}' = %s "
               "AND d.id = r.id", key)
    db.execute("UPDATE run_repo SET last_first_at = %s WHERE account_id = %s AND repo_key = %s AND last_id = (SELECT id FROM run_key "
               "WHERE account_id = %s AND repo_key = %s AND run_key = %s)", [at, account, repo, account, repo, str(run_id)])
    assert db.execute("UPDATE run SET first_at = %s WHERE account_id = %s AND repo_key = %s AND run_id #>> '{}' = %s", key).rowcount == 1


def has_runs_of(db, month):
    """Whether there is a partition of runs of this month, such as `202605`."""
    return db.execute("SELECT to_regclass('run_' || %s) IS NOT NULL", [month]).fetchone()[0]


def rows_of_run(db, account):
    """{table: rows} of the account in the tables that are about its runs."""
    tables = ["run", "run_key", "run_detail", "candidate", "run_text", "run_repo", "deliverable", "run_day"]
    return {table: db.execute(f"SELECT count(*) FROM {table} WHERE account_id = %s" + (" AND runs > 0" if table == "run_day" else ""),
                              [account]).fetchone()[0] for table in tables}


def add_old_facts(db, account, days):
    """What is of no run, so many days old: a removed run, an archived item of the inbox, a revoked agent, a deleted experiment."""
    at = [account, days]
    db.execute("INSERT INTO run_removed VALUES (%s, 'a/b', '1', now() - make_interval(days => %s))", at)
    db.execute("INSERT INTO inbox_archived VALUES (%s, gen_random_uuid(), now() - make_interval(days => %s))", at)
    db.execute("INSERT INTO installation (account_id, repo_key, repo, agent, key_id, status, revoked_at) "
               "VALUES (%s, 'a/b', 'a/b', 'agent_one', gen_random_uuid(), 'revoked', now() - make_interval(days => %s))", at)
    db.execute("INSERT INTO experiment (id, account_id, version, is_deleted, made_at, told_at, arxiv_ids) "
               "VALUES (gen_random_uuid(), %s, 1, true, now(), now() - make_interval(days => %s), '{}')", at)
    db.execute("INSERT INTO code_host_item VALUES (%s, 'issue', 1, 'closed', now() - make_interval(days => %s))", [f"{account}/b", days])


def old_facts(db, account):
    """How many of these are left, by table."""
    tables = ["run_removed", "inbox_archived", "installation", "experiment"]
    left = {table: db.execute(f"SELECT count(*) FROM {table} WHERE account_id = %s", [account]).fetchone()[0] for table in tables}
    return left | {"code_host_item": db.execute("SELECT count(*) FROM code_host_item WHERE repo_key = %s", [f"{account}/b"]).fetchone()[0]}


def set_changed(db, account, repo, run_id, at):
    """A run has changed last at that time."""
    db.execute("UPDATE run SET changed_at = %s WHERE account_id = %s AND repo_key = %s AND run_id #>> '{}' = %s", [at, account, repo, str(run_id)])


def exports(db, target):
    """What is noted of the files of a target."""
    db.rollback()
    return db.execute("SELECT * FROM run_export WHERE target = %s ORDER BY day, part", [target]).fetchall()
