"""Tables of svc-experiments."""

import json
import re

from psycopg.types.json import Jsonb

from lib.tables.common import nested_plans, tasks


def insert_row(connection, table, account):
    """A row of the account in `experiment` or `project`, in the connection's transaction."""
    connection.execute(f"INSERT INTO {table} (account_id, name) VALUES (%s, 'in progress')", [account])


def fill_project(db, account, project, count):
    """So many experiments of a project more."""
    db.execute("INSERT INTO experiment (account_id, project_id, name) SELECT %s, %s, 'member ' || n FROM generate_series(1, %s) n",
               [account, project, count])


def members(db, project):
    """How many experiments have the project, and how many changes are noted that took it from one."""
    return db.execute("SELECT (SELECT count(*) FROM experiment WHERE project_id = %(id)s), (SELECT count(*) FROM experiment_history "
                      "WHERE field = 'project_id' AND was = to_jsonb(%(id)s::text) AND becomes = 'null')", {"id": project}).fetchone()


def lock_experiment(connection, experiment):
    """Until the connection's transaction ends, nothing can be written to the experiment."""
    connection.execute("SELECT FROM experiment WHERE id = %s FOR UPDATE", [experiment])


def refer_to_experiment(connection, experiment):
    """In a transaction: a row is written that refers to the experiment."""
    connection.execute("BEGIN")
    connection.execute("SELECT FROM experiment WHERE id = %s FOR KEY SHARE", [experiment])


def lock_experiment_now(connection, experiment):
    """The same as lock_experiment(), unless somebody else has it."""
    connection.execute("SELECT FROM experiment WHERE id = %s FOR UPDATE NOWAIT", [experiment])


def forget_times(db, experiment):
    """It was made by a version that did not note since when it has its status and its outcome."""
    db.execute("UPDATE experiment SET status_at = NULL, outcome_at = NULL WHERE id = %s", [experiment])


def link_run(db, account, experiment, run, arm="control"):
    """An evaluation run has ended that names an arm of the experiment."""
    db.execute("SELECT linked_run_evaluated(%s, jsonb_build_object('experiment_id', %s::text, 'run_id', %s::text, 'arm', %s::text), NULL)",
               [account, experiment, run, arm])


def lock_experiments(connection, account):
    """The same of all experiments of the account."""
    connection.execute("SELECT FROM experiment WHERE account_id = %s FOR UPDATE", [account])


def delete_experiment(connection, experiment):
    """Begin a transaction that deletes the experiment."""
    connection.execute("BEGIN")
    connection.execute("DELETE FROM experiment WHERE id = %s", [experiment])


def forget_papers(db, account):
    """Delete the rows of papers that experiments of the account name."""
    db.execute("DELETE FROM experiment_paper WHERE account_id = %s", [account])


def papers_of_experiments(db, account):
    """{(experiment, paper)} of these rows."""
    return set(db.execute("SELECT experiment_id, arxiv_id FROM experiment_paper WHERE account_id = %s", [account]).fetchall())


def set_launch_context(connection, experiment, context):
    """Give the experiment another launch context (JSON), in the connection's transaction."""
    connection.execute("UPDATE experiment SET launch_context = %s WHERE id = %s", [context, experiment])


def add_history(db, experiment, field, count, was="null"):
    """So many changes of a field to 1, 2, 3, ..., from a value (JSON)."""
    db.execute("INSERT INTO experiment_history (experiment_id, at, field, was, becomes) "
               "SELECT %s, now(), %s, %s, to_jsonb(n) FROM generate_series(1, %s) n", [experiment, field, was, count])


def repeat_results(db, experiment, count, ahead="0"):
    """Store the results of an experiment so many times more, so long after them."""
    db.execute("INSERT INTO experiment_result (id, experiment_id, account_id, at, source, input, output) "
               "SELECT uuid_v7(), experiment_id, account_id, at + %s, source, input, output FROM experiment_result, generate_series(1, %s) "
               "WHERE experiment_id = %s", [ahead, count, experiment])


def linked_runs(db, account, experiment):
    """What a job reads of the evaluation runs of the experiment: their digest, and the newest analysis then."""
    return db.execute("SELECT md5(linked_runs(id, 'eval_runs')::text), analysis_id FROM experiment WHERE account_id = %s AND id = %s",
                      [account, experiment]).fetchone()


def add_linked_runs(db, experiment, arm, count, metrics):
    """So many runs of agents of the arm that have measured this."""
    db.execute("INSERT INTO linked_run (experiment_id, source, run_key, arm, metrics, is_cost_estimated, at) "
               "SELECT %(e)s, 'telemetry', %(arm)s || ' ' || n, %(arm)s, %(metrics)s, false, now() FROM generate_series(1, %(count)s) n",
               {"e": experiment, "arm": arm, "metrics": json.dumps(metrics), "count": count})


def keep_measured_run(db, experiment, key, value):
    """A run of an agent in the treatment that has measured this recall, after those before."""
    db.execute("INSERT INTO linked_run (experiment_id, source, run_key, arm, metrics) "
               "VALUES (%s, 'telemetry', %s, 'treatment', jsonb_build_object('recall', %s::int))", [experiment, key, value])


def move_linked_runs(db, former, now):
    """The runs of agents in a repository are under its new name."""
    db.execute("SELECT linked_runs_move(%s, %s)", [former, now])


def measured_runs(db, experiment):
    """{run key: recall} of the runs of agents that the experiment has."""
    return dict(db.execute("SELECT run_key, (metrics ->> 'recall')::int FROM linked_run WHERE experiment_id = %s AND source = 'telemetry'",
                           [experiment]).fetchall())


def lose_linked_run(db, run):
    """svc-evalenv has deleted an evaluation run for its age."""
    assert db.execute("UPDATE linked_run SET run_key = '00' || right(run_key, -2) WHERE run_key = %s", [run]).rowcount == 1


def store_analysis(db, account, experiment, runs, output):
    """Store an analysis of linked_runs(); whether it was stored."""
    stored = db.execute("SELECT linked_result_add(%s, id, ab_test_config, 'eval_runs', %s, %s, '{}', %s, NULL) FROM experiment WHERE id = %s",
                        [account, *runs, json.dumps(output), experiment]).fetchone()[0]
    return stored is not None


def count_kept(db, experiment):
    """How often the evidence of the experiment was kept."""
    return db.execute("SELECT count(*) FROM experiment_evidence WHERE experiment_id = %s", [experiment]).fetchone()[0]


def waiting_to_keep(db, experiment, interrupted=False):
    """How many decisions of the experiment wait for their evidence to be kept; of those, only the ones that were interrupted."""
    return db.execute("SELECT count(*) FROM task WHERE kind = 'evidence_keep' AND status IN ('pending', 'running') "
                      "AND input ->> 'experiment_id' = %s AND (NOT %s OR interruptions > 0)", [experiment, interrupted]).fetchone()[0]


def keep_soon(db, experiment):
    """Let what waits to be kept after an interruption be tried again now."""
    db.execute("UPDATE task SET run_after = now() WHERE kind = 'evidence_keep' AND status = 'pending' AND input ->> 'experiment_id' = %s",
               [experiment])


def rename_kept_kind(db, experiment, kind, becomes):
    """What was kept of the experiment has another kind of nodes in place of one."""
    query = "UPDATE experiment_evidence SET graph = replace(graph::text, %s, %s)::jsonb WHERE experiment_id = %s"
    db.execute(query, [f'"kind": "{kind}"', f'"kind": "{becomes}"', experiment])


def let_keep(db, account, experiment, at):
    """Let the evidence be kept of a decision at that time."""
    db.execute("SELECT task_put('evidence_keep', %s, jsonb_build_object('experiment_id', %s::text, 'version', 1, 'at', time_json(%s), "
               "'trigger', 'outcome'), NULL, NULL)", [account, experiment, at])


def count_reports(db, experiment):
    """How many reports of a run are stored: equal ones once."""
    return db.execute("SELECT count(*) FROM report WHERE experiment_id = %s", [experiment]).fetchone()[0]


def counted(db, account):
    """The experiments that the service counts for the account, and those that there are."""
    rows = "SELECT (SELECT coalesce(sum(experiments), 0) FROM experiment_count WHERE account_id = %(a)s)::int, count(*) FROM experiment"
    return db.execute(f"{rows} WHERE account_id = %(a)s", {"a": account}).fetchone()


def count_more(db, account, number):
    """The account has so many experiments more, as far as the bound is concerned."""
    db.execute("INSERT INTO experiment_count (account_id, part, experiments) VALUES (%s, 99, %s)", [account, number])


def pass_time(db, experiment, *columns):
    """These times of the experiment's run have come."""
    changes = ", ".join(f"{column} = now()" for column in columns)
    query = f"UPDATE implementation SET {changes} WHERE experiment_id = %s AND finished_at IS NULL"
    assert db.execute(query, [experiment]).rowcount == 1


# Pull requests of runs


def add_attempt(db, experiment, attempt, repo, run_id=None, pr_number=None, is_finished=False):
    """An attempt to implement the experiment; with `run_id` it was dispatched."""
    db.execute("INSERT INTO implementation (experiment_id, attempt, started_at, finished_at, repo, run_id, pr_number) "
               "VALUES (%s, %s, now(), CASE WHEN %s THEN now() END, %s, %s, %s)", [experiment, attempt, is_finished, repo, run_id, pr_number])


def lock_attempt(connection, experiment, attempt):
    """Lock an attempt as well, unless somebody else has it."""
    connection.execute("SELECT FROM implementation WHERE experiment_id = %s AND attempt = %s FOR UPDATE NOWAIT", [experiment, attempt])


def reconcile(db, experiment, attempt, conclusion=None, pull=None):
    """What the code host says of the run of an attempt, and of its pull request, if it has one."""
    db.execute("SELECT implementation_reconcile(%s, %s, %s, %s)", [experiment, attempt, conclusion, pull and Jsonb(pull)])


def tell_pull_request(db, repo, number, branch, state="open", at="now", is_reopened=False):
    """An event of a pull request has arrived."""
    db.execute("SELECT implementation_pull_update(%s, %s, %s, %s, %s, %s)", [repo, number, branch, state, at, is_reopened])


def checks_of_pull_request(db, repo, number, branch):
    """[(experiment, attempt)] of the checks that such an event would queue."""
    with db.transaction(force_rollback=True):
        before = {task.id for task in tasks(db, "implementation_check")}
        tell_pull_request(db, repo, number, branch)
        return sorted((task.input["experiment_id"], task.input["attempt"]) for task in tasks(db, "implementation_check") if task.id not in before)


# Lists of many


def add_many(db, account, project, count):
    """So many experiments of an account, which differ in every filter, every 25th in the project; and 20 of each of a thousand others.

    Without what triggers do for each: its lines of the audit log, and the job that keeps the evidence of a decision, for which the
    service would compute for longer than for the tests."""
    db.execute("SET session_replication_role = replica")
    db.execute("""
        INSERT INTO experiment (account_id, name, status, project_id, ticket_source, external_ticket_id, created_via,
                                launch_context, pr_url)
        SELECT %(account)s::uuid, 'experiment ' || n,
               (ARRAY['draft', 'running', 'complete', 'analyzing', 'shipped', 'iterating', 'rejected', 'abandoned'])[1 + n %% 8],
               CASE WHEN n %% 25 = 0 THEN %(project)s::uuid END,
               (ARRAY['tracker_a', 'tracker_b', NULL])[1 + n %% 3], 'T-' || n %% 5000,
               (ARRAY['api', 'mcp', 'web', 'seed'])[1 + n %% 4],
               CASE WHEN n %% 10 = 0 THEN '{}'::jsonb END, CASE WHEN n %% 20 = 0 THEN 'https://example.com/' END
        FROM generate_series(0, %(count)s - 1) n""", {"account": account, "project": project, "count": count})
    db.execute("INSERT INTO experiment (account_id, name) SELECT others.id, 'another' "
               "FROM (SELECT uuid_v7() AS id FROM generate_series(1, 1000)) others, generate_series(1, 20)")
    count_more(db, account, count)
    db.execute("RESET session_replication_role")
    db.execute("VACUUM ANALYZE experiment")


def drop_many(db, account):
    db.execute("SET session_replication_role = replica")
    db.execute("DELETE FROM experiment WHERE name = 'another' OR account_id = %s", [account])
    db.execute("DELETE FROM experiment_count WHERE account_id = %s", [account])
    db.execute("RESET session_replication_role")


def plans_of_page(db, *arguments):
    """The plans of the statements inside experiment_page(), as EXPLAIN shows them."""
    plans = nested_plans(db, "SELECT total FROM experiment_page(%s, %s, %s, %s, %s, %s, %s, NULL, 100, 200)", *arguments)
    return [plan for plan in plans if re.search(r"FROM experiment(_found\(| e WHERE)", plan)]


# Tickets


def let_ticket_be_read(db, experiment):
    """The time has come to read the ticket of an experiment again."""
    assert db.execute("UPDATE ticket SET due_at = now() WHERE experiment_id = %s", [experiment]).rowcount == 1


def tickets(db, experiment):
    """[(source, id)] of the tickets that are kept of an experiment."""
    return db.execute("SELECT source, id FROM ticket WHERE experiment_id = %s ORDER BY source, id", [experiment]).fetchall()


def keep_linked_run_late(db, run):
    """As if the event of the run had come after those of all others."""
    db.execute("UPDATE linked_run SET at = now() + interval '1 hour' WHERE run_key = %s", [run])


def runs_of_analysis(db, analysis):
    """The evaluation runs that the input of an analysis names."""
    return {run for (run,) in db.execute("SELECT result_eval_runs(input) FROM experiment_result WHERE id = %s", [analysis])}


def forget_runs_of_analysis(db, analysis):
    """The input of an analysis as versions kept it that did not say which evaluation runs it was, of a time after these."""
    db.execute("UPDATE experiment_result SET input = '{\"runs\": 6, \"sha256\": \"\"}', at = now() + interval '1 minute' WHERE id = %s", [analysis])


# Bounds


def add_changes(db, experiment, count):
    """So many changes of an experiment."""
    db.execute("INSERT INTO experiment_history (experiment_id, at, field, was, becomes) "
               "SELECT %s, now(), 'name', to_jsonb(n), to_jsonb(n + 1) FROM generate_series(1, %s) n", [experiment, count])


def changes(db, experiment):
    return db.execute("SELECT count(*) FROM experiment_history WHERE experiment_id = %s", [experiment]).fetchone()[0]


def add_long_changes(db, experiment, count, length, field="hypothesis", is_noted=True):
    """So many changes of an experiment from null to a value of that length; of earlier versions the length is not noted."""
    db.execute("INSERT INTO experiment_history (experiment_id, at, field, was, becomes) SELECT %s, now(), %s, 'null', to_jsonb(v.value) "
               "FROM generate_series(1, %s) n, LATERAL (SELECT string_agg(md5(n || '.' || i), '') AS value FROM generate_series(1, %s) i) v",
               [experiment, field, count, length // 32])
    if is_noted:
        db.execute("UPDATE experiment_history SET bytes = change_bytes(was, becomes) WHERE experiment_id = %s", [experiment])


def change_lengths(db, experiment):
    """[length] of the changes of an experiment as text, the newest first."""
    query = "SELECT octet_length(was::text) + octet_length(becomes::text) FROM experiment_history WHERE experiment_id = %s ORDER BY id DESC"
    return [length for (length,) in db.execute(query, [experiment])]


READERS = {"history": "SELECT experiment_changes_json(%s)", "decisions": "SELECT count(*) FROM experiment e, experiment_decisions(e) WHERE e.id = %s"}


def bytes_read(db, reader, experiment):
    """The pages of tables and indexes that a function reads, in bytes."""
    (plan,) = db.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT json) {READERS[reader]}", [experiment]).fetchone()[0]
    return 8192 * (plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])


def add_reports(db, experiment, count):
    """So many reports of an experiment's last attempt."""
    db.execute("INSERT INTO report (experiment_id, attempt, digest, at) SELECT %s, max(i.attempt), sha256(n::text::bytea), now() "
               "FROM implementation i, generate_series(1, %s) n WHERE i.experiment_id = %s GROUP BY n", [experiment, count, experiment])


def raise_attempts(db, experiment, attempt):
    """Of an experiment with a failed attempt, another one of this number has failed."""
    db.execute("INSERT INTO implementation (experiment_id, attempt, started_at, finished_at, error) VALUES (%s, %s, now(), now(), 'failed')",
               [experiment, attempt])
    db.execute("UPDATE report SET attempt = %s WHERE experiment_id = %s", [attempt, experiment])


def reports(db, experiment):
    """(how many there are of an experiment, the summary of the newest)"""
    return db.execute("SELECT count(*), (array_agg(summary ORDER BY id DESC))[1] FROM report WHERE experiment_id = %s", [experiment]).fetchone()


def first_attempt(db, experiment):
    return db.execute("SELECT min(attempt) FROM implementation WHERE experiment_id = %s", [experiment]).fetchone()[0]
