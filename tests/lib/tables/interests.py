"""Tables of svc-interests."""

import json
import uuid
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

from psycopg.types.json import Jsonb


# Interests


def account_of(db, interest):
    return db.execute("SELECT account_id FROM interest WHERE id = %s", [interest]).fetchone()[0]


def lock_interest(connection, interest):
    """Until the connection's transaction ends, nothing can be written for the interest."""
    connection.execute("SELECT FROM interest WHERE id = %s FOR UPDATE", [interest])


def drop_interest(connection, interest):
    """Delete an interest in the connection's transaction."""
    connection.execute("DELETE FROM interest WHERE id = %s", [interest])


def change_context(connection, interest, context):
    """Change the context in the connection's transaction, as an update of the interest does."""
    connection.execute(
        "UPDATE interest SET context = %s, context_version = context_version + 1, pool_version = pool_version + 1, "
        "pool_status = 'stale', pool_size = 0 WHERE id = %s", [context, interest])


def add_interests(db, account, names, is_active=True):
    """As many interests as if the account had made them, without their work."""
    db.execute("INSERT INTO interest (account_id, name, context, is_active) SELECT %s, n, 'x', %s FROM unnest(%s::text[]) AS n",
               [account, is_active, list(names)])


def count_interests(db, account):
    """(interests, active ones)"""
    return db.execute("SELECT count(*), count(*) FILTER (WHERE is_active) FROM interest WHERE account_id = %s", [account]).fetchone()


def kept_counts(db, account):
    """(interests, active ones), as the service keeps them up to date instead of counting."""
    return db.execute("SELECT interests, active FROM interest_count WHERE account_id = %s", [account]).fetchone()


def age_sources(db, interest, age):
    """The addresses in an interest's context were read that long before."""
    db.execute("UPDATE context_source SET tried_at = tried_at - %s::interval WHERE interest_id = %s", [age, interest])


def source_writes(db, interest):
    """Changes when an address of the interest is written or locked."""
    rows = "SELECT array_agg((url, xmin, xmax)::text ORDER BY url) FROM context_source WHERE interest_id = %s"
    return db.execute(rows, [interest]).fetchone()[0]


# Pools


def open_tasks(db, interest):
    """The number of tasks that compute something for an interest alone."""
    rows = "SELECT count(*) FROM task WHERE input ->> 'interest_id' = %s AND status IN ('pending', 'running')"
    return db.execute(rows, [interest]).fetchone()[0]


def set_pool_status(db, interest, status):
    db.execute("UPDATE interest SET pool_status = %s WHERE id = %s", [status, interest])


def bump_pool_version(connection, interest):
    """What is computed from the present pool is refused."""
    connection.execute("UPDATE interest SET pool_version = pool_version + 1 WHERE id = %s", [interest])


def pool_of(db, interest):
    """{paper: relevance}, the best first."""
    return dict(db.execute("SELECT arxiv_id, relevance FROM pool_entry WHERE interest_id = %s ORDER BY relevance DESC", [interest]))


def matched_words(db, interest):
    """The words that search matched for the papers of the pool."""
    rows = db.execute("SELECT DISTINCT jsonb_array_elements_text(matched) FROM pool_entry WHERE interest_id = %s", [interest])
    return {word.lower() for (word,) in rows}


def whole_search_age(db, interest):
    """How many days ago all papers were searched for the pool; less than 0 as move_whole_search() says."""
    return db.execute("SELECT (now() AT TIME ZONE 'UTC')::date - whole_on FROM pool_search WHERE interest_id = %s", [interest]).fetchone()[0]


def move_whole_search(db, interest, days):
    """All papers were searched for the pool that many days later."""
    db.execute("UPDATE pool_search SET whole_on = whole_on + %s WHERE interest_id = %s", [days, interest])


def set_cursor(db, interest, cursor):
    """The last search for the pool was of another state of the index."""
    db.execute("UPDATE pool_search SET cursor = %s WHERE interest_id = %s", [cursor, interest])


def empty_pool(db, interest):
    db.execute("DELETE FROM pool_entry WHERE interest_id = %s", [interest])


def pool_writes(db, interest):
    """Changes when an entry of the pool, or its last search, is written or locked."""
    rows = ("SELECT array_agg((arxiv_id, e.xmin, e.xmax, s.xmin, s.xmax)::text ORDER BY arxiv_id)"
            " FROM pool_entry e JOIN pool_search s USING (interest_id) WHERE interest_id = %s")
    return db.execute(rows, [interest]).fetchone()


def put_later_builds(db, interest, count):
    """So many tasks that build the interest's pool, in an hour. Returns their ids."""
    with db.transaction():
        queue(db, "pool_build", interest, count)
        later = ("UPDATE task SET run_after = now() + interval '1 hour', turn = NULL"
                 " WHERE kind = 'pool_build' AND input ->> 'interest_id' = %s AND input ? 'n' RETURNING id")
        return [id for (id,) in db.execute(later, [interest])]


def _change_interrupted_build(db, interest, change):
    """Change a task that builds the pool, once its first attempt has failed. Whether it was there."""
    task = "kind = 'pool_build' AND input ->> 'interest_id' = %s AND status = 'pending' AND attempts > 0"
    return db.execute(f"UPDATE task SET {change} WHERE {task}", [interest]).rowcount == 1


def die_in_last_attempt(db, interest):
    """A process died in the last attempt to build the pool. Whether there was a first one."""
    return _change_interrupted_build(
        db, interest, "status = 'running', attempts = attempts_max + interruptions, lease_owner = 'dead', lease_until = now()")


def make_interruption_the_last(db, interest):
    """The next interruption of the pool's build is the last one, and due at once. Whether there was a first attempt."""
    return _change_interrupted_build(db, interest, "started_at = now() - interval '25 hours', run_after = now()")


# Stored preference scores


def score_writes(db, interest):
    """Another value after each write of the scores of the interest's candidates; None: none are stored."""
    return db.execute("SELECT xmin::text, model_version, scoring FROM preference_scores WHERE interest_id = %s", [interest]).fetchone()


def forget_scores(db, interest):
    db.execute("DELETE FROM preference_scores WHERE interest_id = %s", [interest])


def age_scores(db, interest):
    """The scores were stored by code of an earlier version."""
    db.execute("UPDATE preference_scores SET scoring = scoring - 1 WHERE interest_id = %s", [interest])


def damage_scores(db, interest):
    db.execute("UPDATE preference_scores SET scores = substr(scores, 1, length(scores) - 1) WHERE interest_id = %s", [interest])


# Papers


def known_paper(db, paper):
    """A paper as svc-interests has last seen it."""
    return db.execute("SELECT asset FROM paper WHERE arxiv_id = %s", [paper]).fetchone()[0]


def keep_paper(db, paper, version, title, vector, model="m"):
    """Keep a paper of an answer of svc-search."""
    asset = {"title": title, "abstract": title}
    result = {"arxiv_id": paper, "version": version, "asset": asset, "abstract": title, "vector": vector, "scale": 1}
    db.execute("SELECT paper_keep(%s)", [json.dumps({"model": model, "results": [result]})])


def kept_paper(db, paper, model="m"):
    """(version, title, abstract, vector) of it."""
    return db.execute("SELECT p.version, p.asset ->> 'title', p.abstract, v.vector FROM paper p JOIN paper_vector v USING (arxiv_id)"
                      " WHERE p.arxiv_id = %s AND v.embedder = %s", [paper, model]).fetchone()


def set_paper_text(db, paper, title, abstract):
    db.execute("UPDATE paper SET asset = asset || jsonb_build_object('title', %s::text), abstract = %s, updated_at = now() WHERE arxiv_id = %s",
               [title, abstract, paper])


def paper_writes(db):
    """Rises when a paper is stored that is new or has changed."""
    return db.execute("SELECT max(xmin::text::bigint), count(*), max(version) FROM paper").fetchone()


def paper_locks(db, interest):
    """By paper of the interest's pool: another value after each lock."""
    return dict(db.execute("SELECT p.arxiv_id, p.xmax::text FROM paper p JOIN pool_entry e USING (arxiv_id) WHERE e.interest_id = %s", [interest]))


# Recommendations


def add_recommendation(db, interest, paper, title=None, reasoning="r", minutes=0):
    """Recommend a paper so many minutes from now, as a refresh does. Returns its id."""
    db.execute("INSERT INTO paper (arxiv_id, asset, abstract) VALUES (%s, jsonb_strip_nulls(jsonb_build_object('title', %s::text)), '')"
               " ON CONFLICT DO NOTHING", [paper, title])
    return str(db.execute(
        "INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning,"
        " recommended_at) SELECT id, account_id, %s, context_version, 0.5, 1, %s, now() + %s * interval '1 minute'"
        " FROM interest WHERE id = %s RETURNING id",
        [paper, reasoning, minutes, interest]).fetchone()[0])


def givers_of(db, recommendation):
    """{signal: the person who gave it last}"""
    rows = db.execute("SELECT signal, person_id FROM feedback WHERE recommendation_id = %s", [recommendation]).fetchall()
    return {signal: person and str(person) for signal, person in rows}


def add_explanation(db, recommendation, explanation):
    """`explanation`: JSON"""
    db.execute("INSERT INTO recommendation_explanation VALUES (%s, %s)", [recommendation, explanation])


def drop_explanation(db, recommendation):
    """As if an earlier version had made the recommendation."""
    db.execute("DELETE FROM recommendation_explanation WHERE recommendation_id = %s", [recommendation])


def explained(db, recommendations):
    """How many of them have an explanation."""
    query = "SELECT count(*) FROM recommendation_explanation WHERE recommendation_id = ANY (%s)"
    return db.execute(query, [list(recommendations)]).fetchone()[0]


def move_recommendations(db, interest, age):
    """The interest's recommendations were made that long before; their ids stay."""
    db.execute("UPDATE recommendation SET recommended_at = recommended_at - %s::interval WHERE interest_id = %s", [age, interest])


def move_changes(db, interest, age):
    """The interest, and the papers that were recommended for it, were changed that long before."""
    db.execute("UPDATE interest SET updated_at = updated_at - %s::interval WHERE id = %s", [age, interest])
    db.execute("UPDATE paper SET updated_at = updated_at - %s::interval WHERE arxiv_id IN (SELECT arxiv_id FROM recommendation WHERE interest_id = %s)",
               [age, interest])


def age_recommendation(db, recommendation, days):
    """A recommendation and its explanation are so many days old. Returns its new id, since the time is part of it."""
    at = datetime.now(timezone.utc) - timedelta(days=days)
    new = f"{int(at.timestamp() * 1000):012x}7{uuid.uuid4().hex[13:16]}8{uuid.uuid4().hex[17:]}"
    query = "DELETE FROM recommendation_explanation WHERE recommendation_id = %s RETURNING explanation::text"
    (explanation,) = db.execute(query, [recommendation]).fetchone()
    db.execute("UPDATE recommendation SET id = %s, recommended_at = %s WHERE id = %s", [new, at, recommendation])
    add_explanation(db, new, explanation)
    return str(uuid.UUID(new))


def delete_old_recommendations(db, days):
    """How many recommendations a pass deletes that keeps those of so many days."""
    query = "SELECT deleted FROM recommendations_delete_old('00000000-0000-0000-0000-000000000000', %s, 1000)"
    return db.execute(query, [days]).fetchone()[0]


def has_recommendation(db, recommendation):
    return db.execute("SELECT FROM recommendation WHERE id = %s", [recommendation]).rowcount == 1


def recommendation_locks(db, recommendation):
    """Another value after each lock of the row."""
    return db.execute("SELECT xmax::text FROM recommendation WHERE id = %s", [recommendation]).fetchone()[0]


def count_recommendations(db, interest):
    return db.execute("SELECT count(*) FROM recommendation WHERE interest_id = %s", [interest]).fetchone()[0]


def recommended_contexts(db, interest):
    """The versions of the context that its recommendations are for."""
    rows = db.execute("SELECT DISTINCT context_version FROM recommendation WHERE interest_id = %s", [interest])
    return [version for (version,) in rows]


def drop_recommendations(db, interest):
    db.execute("DELETE FROM recommendation WHERE interest_id = %s", [interest])


def set_score(db, recommendation, score):
    db.execute("UPDATE recommendation SET relevance_score = %s WHERE id = %s", [score, recommendation])


def refuse_recommendations(connection):
    """Until the connection's transaction ends, recommendations can be read and not written."""
    connection.execute("LOCK TABLE recommendation IN SHARE MODE")


# What the models learn from


def signals_of(db, interest, most=5000):
    """[(paper, signal)] that the interest's model learns from, if it learns from so many at most, the newest first."""
    return db.execute("SELECT arxiv_id, signal FROM signals_newest(%s, %s)", [interest, most]).fetchall()


def feedback_of(db, recommendation):
    """The signals that a recommendation has, in their order."""
    return [signal for (signal,) in db.execute("SELECT signal FROM feedback WHERE recommendation_id = %s ORDER BY 1", [recommendation])]


def give_feedback(connection, account, recommendation, signal, revoked):
    """Give a signal of a recommendation, which revokes others, in the connection's transaction."""
    connection.execute("SELECT feedback_give(%s, %s, %s, %s, NULL)", [account, recommendation, signal, revoked])


def keep_feedback_of(db, interest, papers):
    """Delete what was said of other papers."""
    db.execute("DELETE FROM feedback f USING recommendation r WHERE r.id = f.recommendation_id AND r.interest_id = %s"
               " AND r.arxiv_id <> ALL (%s)", [interest, list(papers)])


def add_experiment(db, interest, papers, status="shipped", pr_status=None, pr_days=0):
    """An experiment of the interest's account and project, as an event would bring it, which says so of its pull request for so many days."""
    db.execute("INSERT INTO experiment (id, account_id, version, told_at, status, project_id, arxiv_ids, pr_status, pr_status_at)"
               " SELECT uuid_v7(), account_id, 1, now(), %s, project_id, %s, %s, now() - make_interval(days => %s) FROM interest WHERE id = %s",
               [status, list(papers), pr_status, pr_days, interest])


def add_run_outcome(db, interest, stage, recommendation=None, paper=None, names_interest=False):
    """What a run of the interest's account opened for a recommendation, or for a paper of the interest, as an event would bring it."""
    db.execute("INSERT INTO run_outcome (account_id, url, version, stage, interest_id, recommendation_id, arxiv_id)"
               " SELECT account_id, 'https://example.com/pull/' || gen_random_uuid(), 1, %s, CASE WHEN %s THEN id END, %s, %s"
               " FROM interest WHERE id = %s", [stage, names_interest or paper is not None, recommendation, paper, interest])


def set_stage_at(db, interest, days):
    """The pull requests of runs for the interest have had their stages for so many days."""
    db.execute("UPDATE run_outcome SET stage_at = now() - make_interval(days => %s) WHERE interest_id = %s", [days, interest])


def knows_experiment(db, experiment):
    """Whether svc-interests has heard of it."""
    return db.execute("SELECT FROM experiment WHERE id = %s", [experiment]).rowcount == 1


def experiment_papers(db, experiment):
    rows = db.execute("SELECT arxiv_id FROM experiment_paper WHERE experiment_id = %s ORDER BY 1", [experiment])
    return [paper for (paper,) in rows]


def run_stages(db, url):
    """How far the pull request or issue of a run has come, as stored."""
    return [stage for (stage,) in db.execute("SELECT stage FROM run_outcome WHERE url = %s", [url])]


def background(db):
    """(papers in the index when the background was drawn, its papers, when); None before it was."""
    return db.execute("SELECT documents, arxiv_ids, drawn_at FROM background").fetchone()


def halve_background(db):
    """The corpus has doubled since the background was drawn."""
    db.execute("UPDATE background SET documents = documents / 2")


def fit_to_newer_feedback(db, interest):
    """Another process has fitted the interest's model to feedback that is yet to come."""
    db.execute("UPDATE preference_model SET examples_at = now() + interval '1 hour' WHERE interest_id = %s", [interest])


def fit_as_version_0_1_0(db, interest):
    """A process of 0.1.0 has replaced the interest's model, which leaves the facts of the model before."""
    db.execute("UPDATE preference_model SET version = version + 1, fitted_at = now() WHERE interest_id = %s", [interest])


def set_embedder(db, interest, version):
    """The interest uses the vectors of this version."""
    db.execute("UPDATE interest SET embedder = %s WHERE id = %s", [version, interest])


def embedders_of(db, interest):
    """The versions of the embedder that an interest, its model and the vectors of its pool name. More than one element: vectors
    would be left out of scores."""
    used, fitted = db.execute(
        "SELECT i.embedder, m.embedder FROM interest i JOIN preference_model m ON m.interest_id = i.id WHERE i.id = %s", [interest]
    ).fetchone()
    pool = db.execute(
        "SELECT DISTINCT v.embedder FROM interest i JOIN pool_entry e ON e.interest_id = i.id AND e.pool_version = i.pool_version"
        " LEFT JOIN paper_vector v ON v.arxiv_id = e.arxiv_id AND v.embedder = i.embedder WHERE i.id = %s", [interest]
    ).fetchall()
    return {used, fitted, *(one for (one,) in pool)}


# The daily run


def forget_daily_run(db):
    """The run of the day is due. Returns the ids of the former tasks. (Their times would not do: the transaction of the next run may
    have begun before this one, and have waited for it.)"""
    return db.execute("WITH deleted AS (DELETE FROM daily_run) SELECT coalesce(array_agg(id), '{}') FROM task").fetchone()[0]


def daily_runs(db):
    """[(is of today, tasks)] of the runs whose accounts have all been given their tasks."""
    return db.execute("SELECT day = (now() AT TIME ZONE 'UTC')::date, tasks FROM daily_run WHERE next_account IS NULL").fetchall()


def stop_daily_run_at(db, account):
    """The run of the day has given one account its task, and those from this account on none."""
    db.execute("UPDATE daily_run SET tasks = 1, next_account = %s", [account])


def active_accounts(db):
    return db.execute("SELECT count(DISTINCT account_id) FROM interest WHERE is_active").fetchone()[0]


def end_daily_run(db, is_over):
    """Whether the run of the day has come to all accounts."""
    db.execute("INSERT INTO daily_run (day, tasks) VALUES ((now() AT TIME ZONE 'UTC')::date, 0) ON CONFLICT (day) DO UPDATE"
               " SET next_account = CASE WHEN NOT %s THEN '00000000-0000-0000-0000-000000000000'::uuid END", [is_over])


def is_refreshed(db, account):
    """The run of the day is over for the account."""
    return db.execute("SELECT day_is_refreshed(%s, (now() AT TIME ZONE 'UTC')::date)", [account]).fetchone()[0]


# Digests


def recommend_three(db, interest):
    """Three papers are recommended for an inactive interest, which is active then: [recommendation], the best first."""
    db.execute(
        "WITH papers AS (INSERT INTO paper (arxiv_id, asset, abstract, version)"
        " SELECT '2205.9900' || n, jsonb_build_object('arxiv_id', '2205.9900' || n, 'title', 'Paper ' || n,"
        " 'url', 'https://arxiv.org/abs/2205.9900' || n, 'authors', '[\"A\", \"B\", \"C\", \"D\"]'::jsonb), 'abstract', 1 FROM generate_series(1, 3) n"
        " ON CONFLICT (arxiv_id) DO UPDATE SET version = 1 RETURNING arxiv_id)"
        " INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning)"
        " SELECT i.id, i.account_id, p.arxiv_id, i.context_version, 1 - right(p.arxiv_id, 1)::float / 10, right(p.arxiv_id, 1)::int, 'because'"
        " FROM interest i, papers p WHERE i.id = %s", [interest])
    db.execute("UPDATE interest SET is_active = true WHERE id = %s", [interest])
    names = ("recommendation_id", "interest_id", "resource_id", "relevance_score")
    rows = db.execute("SELECT id::text, interest_id::text, arxiv_id, relevance_score FROM recommendation WHERE interest_id = %s ORDER BY rank",
                      [interest])
    return [dict(zip(names, row, strict=True)) for row in rows]


def copy_interest(db, interest, count, reasoning):
    """So many interests like this one, with its recommendations for other reasons."""
    db.execute(
        "WITH made AS (INSERT INTO interest SELECT (jsonb_populate_record(i, jsonb_build_object('id', uuid_v7(),"
        " 'experiment_history_id', uuid_v7(), 'name', 'interest ' || n))).*"
        " FROM interest i, generate_series(1, %s) n WHERE i.id = %s RETURNING id, account_id, context_version)"
        " INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning)"
        " SELECT m.id, m.account_id, r.arxiv_id, m.context_version, r.relevance_score, r.rank, %s"
        " FROM made m, recommendation r WHERE r.interest_id = %s", [count, interest, reasoning, interest])


def keep_recommendation(db, account, recommendation):
    """Delete all others of the account."""
    db.execute("DELETE FROM recommendation WHERE id <> %s AND account_id = %s", [recommendation, account])


def lock_interests(connection, account):
    """Until the connection's transaction ends, nothing can be written for the account's interests."""
    connection.execute("SELECT FROM interest WHERE account_id = %s FOR UPDATE", [account])


def recommend_beside(connection, recommendation, paper):
    """Recommend another paper for the same interest, in the connection's transaction."""
    connection.execute("INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning)"
                       " SELECT interest_id, account_id, %s, context_version, 0.1, 2, 'x' FROM recommendation WHERE id = %s",
                       [paper, recommendation])


def waiting_digests(db, account):
    """How many digests of the account wait for the refresh of the day."""
    return db.execute("SELECT count(*) FROM digest_due WHERE account_id = %s", [account]).fetchone()[0]


def age_waiting_digests(db, account, hours):
    """The account's digests have waited that long."""
    db.execute("UPDATE digest_due SET due_at = now() - %s * interval '1 hour' WHERE account_id = %s", [hours, account])


def add_waiting_digest(db, account):
    """A digest of the account that waits for the refresh of tomorrow."""
    settings = {"time_zone": "UTC", "interest_ids": None, "limit": 5, "min_score": 0, "skip_empty": True, "period": "day", "told_until": None}
    db.execute("INSERT INTO digest_due (endpoint_id, account_id, local_date, due_at, settings)"
               " VALUES (gen_random_uuid(), %s, current_date + 1, now() + interval '1 day', %s)", [account, Jsonb(settings)])


def put_refresh_of_day(db, account):
    """The account's part of the daily run, which begins in an hour. Returns its task."""
    (task,) = db.execute("SELECT (task_put('recommendations_refresh_all', %s, jsonb_build_object('day', (now() AT TIME ZONE 'UTC')::date),"
                         " NULL, NULL)).id", [account]).fetchone()
    db.execute("UPDATE task SET status = 'pending', run_after = now() + interval '1 hour', turn = NULL WHERE id = %s", [task])
    return task


def refuse_digest_reads(db):
    """Until the transaction ends, nobody can even read what digests are made of."""
    db.execute("LOCK TABLE recommendation, paper, feedback, interest")


def drop_recommendation(db, recommendation):
    db.execute("DELETE FROM recommendation WHERE id = %s", [recommendation])


def set_asset(db, paper, asset):
    """What is known of a paper."""
    db.execute("UPDATE paper SET asset = %s, updated_at = now() WHERE arxiv_id = %s", [json.dumps(asset), paper])


def change_unseen(db, interest):
    """Change what no digest shows of an interest."""
    db.execute("UPDATE interest SET pool_size = pool_size + 1, pool_embedder = NULL WHERE id = %s", [interest])


# Provisioning


def add_agent(db, interest, repo, pr_number=None):
    """An agent of the interest that is at work on a repository; with `pr_number` one whose workflow waits there to be merged."""
    db.execute("INSERT INTO provisioning (interest_id, account_id, repo, agent, provider, branch, auto_merge, task_id, installation_id, next_run_at,"
               " pr_number, pr_url, merged_at)"
               " SELECT i.id, i.account_id, %(repo)s, 'agent_one', 'anthropic', 'expops/agent', false, uuid_v7(), uuid_v7(), 'infinity',"
               " %(number)s::int, 'https://example.org/pull/' || %(number)s::int, CASE WHEN %(number)s::int IS NULL THEN now() END"
               " FROM interest i WHERE i.id = %(interest)s", {"repo": repo, "number": pr_number, "interest": interest})


def drop_agents(db, repo):
    db.execute("DELETE FROM provisioning WHERE repo = %s", [repo])


def outdate_workflow(db, interest):
    """The interest's repository has another version of the workflow."""
    db.execute("UPDATE provisioning SET workflow_version = 'former' WHERE interest_id = %s", [interest])


def expire_agent_key(db, interest, days):
    """The key of the interest's agent expires so many days from now."""
    db.execute("UPDATE provisioning SET key_expires_at = now() + %s * interval '1 day' WHERE interest_id = %s", [days, interest])


def want_repository(db, interest, repo):
    """What a start left behind whose task has failed: the interest's agent was to move to a repository."""
    db.execute("UPDATE provisioning SET repo = %s WHERE interest_id = %s", [repo, interest])


def forget_proposals(db, interest):
    """No pull request was opened for the interest, as far as is known."""
    db.execute("UPDATE provisioning SET pr_url = NULL, pr_number = NULL, merged_at = NULL WHERE interest_id = %s", [interest])


def proposal_closed_at(db, interest):
    """When the pull request that the product proposed for the interest was last closed without a merge; None: it was not."""
    return db.execute("SELECT closed_at FROM provisioning WHERE interest_id = %s", [interest]).fetchone()[0]


@contextmanager
def another_workflow_version(db):
    """A process with another version of the workflow is seen all the time."""
    db.execute("INSERT INTO workflow_version VALUES ('other', now() + interval '1 hour')")
    try:
        yield
    finally:
        db.execute("DELETE FROM workflow_version WHERE version = 'other'")


def last_workflow_check(db):
    """When a process has last looked for workflows that are out of date."""
    return db.execute("SELECT max(seen_at) FROM workflow_version WHERE version <> 'other'").fetchone()[0]


def scheduled_time_comes(db, interest, ago="1 minute", first_run="1 day"):
    """The time of the schedule has come, so long ago, for the first time. The first run was started that long before."""
    db.execute("UPDATE provisioning SET next_run_at = now() - %s::interval, next_run_date = (now() - %s::interval)::date, last_run_date = NULL,"
               " dispatched_at = dispatched_at - %s::interval WHERE interest_id = %s", [ago, ago, first_run, interest])


def lose_time_zone(db, interest):
    """The time zone of the interest's schedule is not known any more."""
    db.execute("SET session_replication_role TO replica")
    db.execute("UPDATE interest SET schedule = schedule || '{\"time_zone\": \"Mars/Base\"}' WHERE id = %s", [interest])
    db.execute("RESET session_replication_role")


def is_planned_again(db, interest):
    """The time of the schedule that had come is over, and the next one is planned."""
    query = "SELECT next_run_at > now() AND last_run_date IS NOT NULL FROM provisioning WHERE interest_id = %s"
    return db.execute(query, [interest]).fetchone()[0]


def is_next_date_later(db, interest):
    """The next run of the schedule is not on the date of the last one."""
    return db.execute("SELECT next_run_date > last_run_date FROM provisioning WHERE interest_id = %s", [interest]).fetchone()[0]


def next_time_of_day(db, hour, minute, zone):
    """The next time that it is so late in a time zone, as the API shows it."""
    query = "SELECT time_json(next_at) FROM local_time_next('{1,2,3,4,5,6,7}', %s, %s, %s, NULL, now())"
    return db.execute(query, [hour, minute, zone]).fetchone()[0]


def renewals_started(db, interest):
    """How many tasks to renew the workflow of an interest's repository were started."""
    query = "SELECT count(*) FROM task WHERE kind = 'workflow_renewal' AND input ->> 'interest_id' = %s"
    return db.execute(query, [interest]).fetchone()[0]


def age_renewal(db, interest, age):
    """The renewal of the workflow of an interest's repository was started that long before."""
    db.execute("UPDATE provisioning SET renewal_tried_at = renewal_tried_at - %s::interval WHERE interest_id = %s", [age, interest])


# Work that waits


def is_at_work(db, interest):
    """Whether a task of the interest waits or runs."""
    query = "SELECT count(*) FROM task WHERE input ->> 'interest_id' = %s AND status IN ('pending', 'running')"
    return db.execute(query, [interest]).fetchone()[0] > 0


def queue(db, kind, interest, count):
    """Start so many different tasks on an interest. Returns its account."""
    return db.execute(
        "SELECT account_id, count((task_put(%s, account_id, jsonb_build_object('interest_id', id, 'num_results', 1, 'n', n),"
        " NULL, NULL)).id) FROM interest, generate_series(1, %s) AS n WHERE id = %s GROUP BY 1", [kind, count, interest]
    ).fetchone()[0]


def started_while_waiting(db, account, task):
    """How many tasks of the account began while a task of another one waited."""
    return db.execute(
        "SELECT count(*) FROM task t, task other WHERE t.account_id = %s AND other.id = %s "
        "AND t.started_at > other.created_at AND t.started_at < other.started_at", [account, task]
    ).fetchone()[0]


def pending_max(db):
    """TASKS_PENDING_MAX, as the processes have stored it."""
    return db.execute("SELECT pending_max FROM task_limit").fetchone()[0]


def set_pending_max(db, limit):
    """The processes store their setting again."""
    db.execute("UPDATE task_limit SET pending_max = %s", [limit])


# Partitions of the explanations


def explanation_months(db):
    """The months that have a partition, such as 202611."""
    return [period for (period,) in db.execute("SELECT p FROM partition_periods('recommendation_explanation') p")]


def explanation_bounds(db):
    """[(name, is validated)] of the bounds of the first partition."""
    return db.execute("SELECT conname, convalidated FROM pg_constraint"
                      " WHERE conrelid = to_regclass('recommendation_explanation_default') AND contype = 'c'").fetchall()


def prepare_explanations(db):
    """One step towards partitions of months. False: nothing is left to do."""
    return db.execute("SELECT explanation_default_prepare()").fetchone()[0]


def keep_explanations(db, days):
    db.execute("SELECT explanation_months_keep(%s)", [days])


def add_explanation_month(db, month, following):
    first, end = (f"month_first_id(to_date('{name}', 'YYYYMM'))::text" for name in (month, following))
    db.execute(f"SELECT partition_add(ARRAY['recommendation_explanation'], '{month}', {first}, {end})")


def forget_explanation_months(db):
    """The tables as after the migration, when no process has run yet."""
    for month in explanation_months(db):
        db.execute(f"DROP TABLE recommendation_explanation_{month}")
    for name, _ in explanation_bounds(db):
        db.execute(f"ALTER TABLE recommendation_explanation_default DROP CONSTRAINT {name}")


def add_old_facts(db, account, interest, days):
    """A former recommendation, and what became of a run, so many days old, and an experiment that was deleted then, or today if it was
    less than 400 days ago."""
    db.execute("INSERT INTO former_recommendation SELECT %s, '2301.' || lpad(%s::text, 5, '0'), 1, %s, uuid_v7_first(now() - make_interval(days => %s))",
               [interest, days, account, days])
    db.execute("INSERT INTO run_outcome (account_id, url, version, stage, stage_at) VALUES (%s, %s, 1, 'merged', now() - make_interval(days => %s))",
               [account, f"https://github.com/a/b/pull/{days}", days])
    db.execute("INSERT INTO experiment (id, account_id, version, told_at, is_deleted, arxiv_ids) VALUES (gen_random_uuid(), %s, 1,"
               " now() - make_interval(days => CASE WHEN %s >= 400 THEN %s ELSE 0 END), true, '{}')", [account, days, days])


def old_facts(db, account):
    """How many of these are left, by table."""
    tables = ["former_recommendation", "run_outcome", "experiment"]
    return {table: db.execute(f"SELECT count(*) FROM {table} WHERE account_id = %s", [account]).fetchone()[0] for table in tables}


# Faults


def start_deadlocks(db, table, count):
    """Make the next `count` inserts into a table the victims of a deadlock."""
    db.execute(
        f"CREATE SEQUENCE deadlocks; GRANT USAGE ON deadlocks TO PUBLIC; "
        f"CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF nextval('interests.deadlocks') <= {count} THEN RAISE SQLSTATE '40P01'; END IF; RETURN NEW; END $$; "
        f"CREATE TRIGGER deadlock BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION deadlock()"
    )


def end_deadlocks(db):
    db.execute("DROP FUNCTION IF EXISTS deadlock CASCADE; DROP SEQUENCE IF EXISTS deadlocks")


def insert_row(connection, table, account):
    """A row of the account in `interest` or `experiment`, in the connection's transaction."""
    connection.execute({
        "interest": "INSERT INTO interest (account_id, name, context) VALUES (%s, 'under way', 'x')",
        "experiment": "INSERT INTO experiment (id, account_id, version, told_at, arxiv_ids) VALUES (gen_random_uuid(), %s, 1, now(), '{}')",
    }[table], [account])


def recommended_today(db):
    """Papers that were recommended today, to all."""
    return db.execute("SELECT count(*) FROM recommendation WHERE recommended_at >= date_trunc('day', now(), 'UTC')").fetchone()[0]


def end_feed_maker(db, account, person, keys):
    """The gateway says that a person with these keys has lost their place in the account."""
    db.execute("SELECT feeds_of_maker_delete(%s, %s)", [account, Jsonb({"person_id": person, "key_ids": keys, "is_founder": False})])


def forget_feed_maker(db, feed):
    """As if a version that does not note who makes a feed had made it."""
    db.execute("UPDATE feed SET key_id = NULL, person_id = NULL WHERE id = %s", [feed])
