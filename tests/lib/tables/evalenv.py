"""Tables of svc-evalenv."""


# Templates


def kept_versions(db, template):
    """[(version, spec, digest)] that are kept of a template, in their order."""
    return db.execute("SELECT version, spec, digest FROM template_version WHERE template_id = %s ORDER BY version", [template]).fetchall()


def sealed_secret(db, template):
    return bytes(db.execute("SELECT secret FROM template WHERE id = %s", [template]).fetchone()[0])


# Builds and runs


def reach_deadline(db, work):
    """A build or run has taken as long as it may."""
    db.execute("UPDATE work SET deadline_at = now() WHERE id = %s", [work])


def expire_claim(db, work):
    """The worker of a build or run has not been heard of for as long as it may."""
    db.execute("UPDATE work SET lease_until = now() - interval '1 second' WHERE id = %s", [work])


def lease_left(db, work):
    """Seconds that the lease of a build or run lasts; None: it has none."""
    return db.execute("SELECT extract(epoch FROM lease_until - now())::int FROM work WHERE id = %s", [work]).fetchone()[0]


def tell(db, run, way):
    """The outcome of what the worker of a run's first attempt sends, in this transaction."""
    query = {"heartbeat": "SELECT outcome FROM work_heartbeat(%s, 'run', NULL, 1, NULL, false, '60 s')",
             "result": """SELECT run_result(%s, NULL, 1, '{"status": "failed"}', NULL, '60 s')"""}
    return db.execute(query[way], [run]).fetchone()[0]


def look_away(db, seconds):
    """Nobody has looked at the leases for so long."""
    db.execute("UPDATE work_watch SET seen_at = now() - make_interval(secs => %s), held_until = NULL", [seconds])


def look(db):
    """What the service does each second, in this transaction."""
    while db.execute("SELECT work_pass('60 s', 3)").fetchone()[0] == 100:
        pass


def holds_leases(db):
    """Whether work stays with its workers, as nobody has looked at the leases."""
    return db.execute("SELECT held_until > now() FROM work_watch").fetchone()[0]


def end_hold(db):
    db.execute("UPDATE work_watch SET held_until = now()")


def state(db, works):
    return [db.execute("SELECT status FROM work WHERE id = %s", [work]).fetchone()[0] for work in works]


def set_attempts(db, work, attempts):
    """Others have claimed a build or run so often that a worker's attempt is long over."""
    db.execute("UPDATE work SET attempts = %s WHERE id = %s", [attempts, work])


def releases(db, work):
    """How often a worker gave a build or run back."""
    return db.execute("SELECT released FROM work WHERE id = %s", [work]).fetchone()[0]


def end_work(db, works):
    """Builds or runs have ended."""
    db.execute("UPDATE work SET status = 'succeeded', finished_at = now(), lease_until = NULL, deadline_at = NULL WHERE id = ANY (%s::uuid[])",
               [list(works)])


def age_work(db, works, days):
    """Those of the builds and runs that have ended did so many days ago."""
    db.execute("UPDATE work SET finished_at = now() - make_interval(days => %s) WHERE id = ANY (%s::uuid[]) AND finished_at IS NOT NULL",
               [days, list(works)])


def fill_builds(db, account, count):
    """So many builds, of the repositories much/r00001, a link to much/r00002, and so on."""
    name = "'much/r' || lpad(n::text, 5, '0')"
    db.execute("WITH made AS (INSERT INTO work (id, kind, account_id, repo, timeout_seconds)"
               f" SELECT uuid_v7(), 'build', %s, CASE n %% 2 WHEN 0 THEN 'https://github.com/' || {name} || '.git' ELSE {name} END, 60"
               " FROM generate_series(1, %s) n RETURNING id, account_id, repo)"
               " INSERT INTO build (id, account_id, source, repo) SELECT id, account_id, 'repo', repo FROM made", [account, count])
    db.execute("ANALYZE work, build, template")


def move_repository(db, old, new):
    db.execute("SELECT repository_move(%s, %s, 'https://github.com')", [old, new])


def repositories(db, account, pattern):
    """What the account's builds are of, as far as it matches the pattern of LIKE: those of `work` and of `build`."""
    query = ("SELECT (SELECT array_agg(repo) FROM work WHERE account_id = %(account)s AND repo LIKE %(pattern)s),"
             " (SELECT array_agg(repo) FROM build WHERE account_id = %(account)s AND repo LIKE %(pattern)s)")
    return db.execute(query, {"account": account, "pattern": pattern}).fetchone()


def rows_fetched(db):
    """The rows of builds and runs that the transaction has read so far, also in functions."""
    query = ("SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables"
             " WHERE schemaname = 'evalenv' AND relname IN ('work', 'build')")
    return db.execute(query).fetchone()[0]


def set_repository(db, build, repo):
    """A build of a repository that the service refuses, as a paper may have it."""
    db.execute("UPDATE build SET repo = %s WHERE id = %s", [repo, build])


def set_image(db, build, image):
    """An image that the service refuses, as an earlier version may have stored it."""
    db.execute("UPDATE build SET image = %s WHERE id = %s", [image, build])


# Results


def age_deliveries(db, runs, days):
    """Results of the runs came so many days ago."""
    db.execute("UPDATE delivery SET received_at = now() - %s * interval '1 day' WHERE run_id = ANY (%s::uuid[])", [days, list(runs)])


def delivered(db, runs):
    """Those of the runs whose deliveries are remembered."""
    return {str(run) for (run,) in db.execute("SELECT run_id FROM delivery WHERE run_id = ANY (%s::uuid[])", [list(runs)])}


def delivery_ids(db, run):
    return [id for (id,) in db.execute("SELECT delivery_id FROM delivery WHERE run_id = %s", [run])]


# What is read of large values


def row_bytes(db, account):
    """The largest row of `run` of an account, without what is stored apart."""
    return db.execute("SELECT max(pg_column_size(r.*)) FROM run r WHERE account_id = %s", [account]).fetchone()[0]


def results_in_list(db, account):
    """The results of the account's runs, as a list shows them."""
    return [one for (one,) in db.execute("SELECT run_item_json(r, w)->>'results' FROM run r JOIN work w USING (id) WHERE r.account_id = %s",
                                         [account])]


def result_text(db, account):
    """The text of the results of one of the account's runs, as an answer shows it alone."""
    return db.execute("SELECT run_json(r, w)->'results'->>'text' FROM run r JOIN work w USING (id) WHERE r.account_id = %s LIMIT 1",
                      [account]).fetchone()[0]


def large_pages_read(db):
    """How many pages of large values the transaction has read."""
    query = "SELECT pg_stat_get_xact_blocks_fetched(reltoastrelid) FROM pg_class WHERE oid = 'run_large'::regclass"
    return db.execute(query).fetchone()[0]
