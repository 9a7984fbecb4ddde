"""The sums that svc-fleet keeps, and the same computed from its runs."""


def day_sums(db):
    """run_day as it is, and as the rows of run add up."""
    columns = db.execute("""SELECT string_agg(format('sum((d).%I)', attname), ', ' ORDER BY attnum) FROM pg_attribute
                            WHERE attrelid = 'run_day'::regclass AND attnum > 3""").fetchone()[0]
    kept = db.execute("SELECT * FROM run_day WHERE runs <> 0 ORDER BY account_id, day, repo_key").fetchall()
    counted = db.execute(f"""
        SELECT (d).account_id, (d).day, (d).repo_key, {columns}
        FROM (SELECT run_day_of(run, 1) AS d FROM run OFFSET 0) one GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""").fetchall()
    return kept, counted


def repo_sums(db):
    """run_repo as it is, and as the rows of run add up."""
    names = ["pull_request", "issue", "branch", "skipped", "failed", "running", "other"]
    counts = ", ".join(f"count(*) FILTER (WHERE outcome_kind = '{name}')" for name in names)
    kept = db.execute("SELECT account_id, repo_key, runs, pull_requests, issues, branches, skipped, failed, running, other, last_at, "
                      "last_id, last_first_at, last_outcome, last_status FROM run_repo ORDER BY account_id, repo_key").fetchall()
    counted = db.execute(f"""
        SELECT s.*, last.* FROM (SELECT account_id, repo_key, count(*), {counts} FROM run GROUP BY 1, 2) s, LATERAL (
            SELECT at, id, first_at, outcome_kind, status FROM run r WHERE (r.account_id, r.repo_key) = (s.account_id, s.repo_key)
            ORDER BY at DESC, id DESC LIMIT 1) last ORDER BY 1, 2""").fetchall()
    return kept, counted


def agent_sums(db):
    """run_agent as it is, and as the rows of run add up."""
    kept = db.execute("SELECT * FROM run_agent WHERE runs <> 0 ORDER BY 1, 2, 3, 4").fetchall()
    counted = db.execute("SELECT account_id, agent, repo_key, outcome_kind, count(*) FROM run WHERE agent IS NOT NULL "
                         "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4").fetchall()
    return kept, counted
