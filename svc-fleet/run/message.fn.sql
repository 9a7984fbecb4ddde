-- What accounts are notified of: runs and of what runs opened, once each (message_emit()).

-- A text as one segment of a path. Run ids are mostly numbers, which need no work.
CREATE OR REPLACE FUNCTION path_segment(segment text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF segment ~ '^[A-Za-z0-9._~-]*$' THEN
        RETURN segment;
    END IF;
    RETURN (SELECT string_agg(CASE WHEN c ~ '[A-Za-z0-9._~-]' THEN c
                              ELSE regexp_replace(upper(encode(convert_to(c, 'UTF8'), 'hex')), '(..)', '%\1', 'g') END, '' ORDER BY n)
            FROM string_to_table(segment, NULL) WITH ORDINALITY AS x (c, n));
END $$;

-- The page of a run, below PUBLIC_URL. Browsers take the segments . and .. out of a path, escaped or not.
CREATE OR REPLACE FUNCTION run_page_path(run_id jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF run_id #>> '{}' IN ('.', '..') THEN
        RETURN '/console/runs/-?run_id=' || (run_id #>> '{}');
    END IF;
    RETURN '/console/runs/' || path_segment(run_id #>> '{}');
END $$;

CREATE OR REPLACE FUNCTION run_message(r run) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN jsonb_build_object(
        'run_id', r.run_id, 'repo', r.repo, 'agent', r.agent, 'provider', r.record -> 'provider', 'model', r.record -> 'model',
        'status', r.status, 'outcome_kind', r.outcome_kind, 'artifact_url', r.artifact_url, 'cost_usd', run_cost(r),
        'interest_id', r.interest_id, 'arxiv_id', r.arxiv_id, 'started_at', time_json(r.at),
        'finished_at', time_json(r.finished_at), 'cause', r.cause, 'url', run_page_path(r.run_id));
END $$;

-- The numbers of an object, as far as it has at most fifty members; null: none.
CREATE OR REPLACE FUNCTION numbers_of(metrics jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN RETURN (
    SELECT jsonb_object_agg(m.name, m.value)
    FROM jsonb_each(CASE WHEN jsonb_typeof(metrics) = 'object' THEN metrics ELSE '{}' END) AS m (name, value)
    WHERE jsonb_typeof(m.value) = 'number' AND char_length(m.name) <= 100
    HAVING count(*) <= 50);
END $$;

-- What a run that has ended says it measured for an arm of an experiment; null: nothing. Its cost is a metric, too.
CREATE OR REPLACE FUNCTION run_measured(r run) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'experiment_id', r.record -> 'experiment_id', 'arm', r.record -> 'arm', 'repo', r.repo, 'run_id', r.run_id #>> '{}',
        'metrics', jsonb_strip_nulls(jsonb_build_object('cost_usd', run_cost(r))) || numbers_of(r.record -> 'metrics'),
        'is_cost_estimated', coalesce(r.record ->> 'cost_basis' = 'estimated', false))
    WHERE r.record ? 'experiment_id' AND r.record ? 'arm' AND r.outcome_kind <> 'running' AND numbers_of(r.record -> 'metrics') IS NOT NULL
$$;

-- Tell svc-experiments of what runs measured, once and when it changes.
CREATE OR REPLACE FUNCTION runs_measured(changes run_change[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.runs', 'run.measured', (c.became).account_id, m.told)
    FROM unnest(changes) c, run_measured(c.became) AS m (told)
    WHERE (c.became).record ? 'experiment_id' AND m.told IS DISTINCT FROM run_measured(c.was) AND m.told IS NOT NULL;
END $$;

-- A run has started when it is first known to be running, and finished when it is first known not to be: one that reports only
-- its end has only finished. What is reported of it later is no news.
CREATE OR REPLACE FUNCTION runs_announce(changes run_change[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c run_change;
    is_running boolean;
    types text[] := '{}';
    accounts uuid[] := '{}';
    messages jsonb[] := '{}';
BEGIN
    FOREACH c IN ARRAY changes LOOP
        is_running := (c.became).outcome_kind = 'running';
        IF is_running IS DISTINCT FROM ((c.was).outcome_kind = 'running') THEN
            types := types || CASE WHEN is_running THEN 'run.started' ELSE 'run.finished' END;
            accounts := accounts || (c.became).account_id;
            messages := messages || run_message(c.became);
        END IF;
    END LOOP;
    PERFORM messages_emit('events.runs', types, accounts, messages) WHERE cardinality(types) > 0;
END $$;

-- The inboxes to look at: after a failure or a run that no budget could stop, and when what was opened has waited.
CREATE OR REPLACE FUNCTION runs_looks(changes run_change[]) RETURNS inbox_look[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    c run_change;
    looks inbox_look[] := '{}';
BEGIN
    FOREACH c IN ARRAY changes LOOP
        IF (c.became).outcome_kind IS DISTINCT FROM (c.was).outcome_kind
           AND ((c.became).outcome_kind = 'failed' OR run_is_unguarded(c.became)) THEN
            looks := looks || ((c.became).account_id, clock_timestamp())::inbox_look;
        END IF;
        IF (c.became).artifact_url IS DISTINCT FROM (c.was).artifact_url AND (c.became).artifact_url IS NOT NULL THEN
            looks := looks || ((c.became).account_id, inbox_due_at('pull_request_waiting', coalesce((c.became).finished_at,
                                                                                                    (c.became).at)))::inbox_look;
        END IF;
    END LOOP;
    RETURN looks;
END $$;

-- Add this month and the next to the facts that were announced; drop those that ended more than 30 days ago: what happened in them is no
-- news (deliverable_announce()). Returns how many were dropped.
CREATE OR REPLACE FUNCTION told_months_keep() RETURNS int LANGUAGE sql AS $$
    SELECT partitions_keep(ARRAY['deliverable_told'], 'month', 1, (now() AT TIME ZONE 'UTC')::date - 31)
$$;

-- Note that a fact of a deliverable is announced to an account. False: it was before. Whoever writes a deliverable waits for others that write it, so
-- nobody else looks at the same time.
CREATE OR REPLACE FUNCTION fact_note(account uuid, fact uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    IF EXISTS (SELECT FROM deliverable_told t WHERE t.account_id = account AND t.fact = fact_note.fact) THEN
        RETURN false;
    END IF;
    PERFORM partition_add_date(ARRAY['deliverable_told'], 'month', today);
    INSERT INTO deliverable_told (account_id, fact, told_on) VALUES (account, fact, today);
    RETURN true;
END $$;

-- What messages tell of a pull request or issue.
CREATE OR REPLACE FUNCTION deliverable_message(d deliverable) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'repo', d.repo, 'number', d.number, 'artifact_url', d.url,
        'title', CASE d.kind WHEN 'issue' THEN 'Issue' ELSE 'Pull request' END || ' ' || d.number || ' of ' || d.repo,
        'run_id', d.run_id, 'arxiv_id', d.arxiv_id, 'interest_id', d.interest_id,
        'opened_at', time_json(d.opened_at), 'closed_at', time_json(d.closed_at), 'url', run_page_path(d.run_id))
$$;

-- Announce what became of a pull request or issue. Which run opened it may become known later, and its row is made anew then, so the id
-- of the message says what happened, and is kept: it is sent once. It can be closed at several times, and merged and opened at one.
-- What happened more than 30 days ago is no news, so facts need not be kept for longer.
CREATE OR REPLACE FUNCTION deliverable_announce() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    d deliverable := NEW;
    type text := d.kind || '.' || CASE d.stage WHEN 'open' THEN 'opened' ELSE d.stage END;
    fact uuid := md5(concat_ws(E'\n', type, d.account_id, d.url,
                               CASE d.stage WHEN 'closed' THEN extract(epoch FROM d.closed_at) END))::uuid;
BEGIN
    IF coalesce(d.closed_at, d.opened_at) < now() - interval '30 days' OR NOT fact_note(d.account_id, fact) THEN
        RETURN NULL;
    END IF;
    PERFORM message_send(fact, 'events.runs', type, d.account_id, deliverable_message(d));
    RETURN NULL;
END $$;

-- Announce that a merged pull request was reverted, once.
CREATE OR REPLACE FUNCTION deliverable_announce_revert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    d deliverable := NEW;
    fact uuid := md5(concat_ws(E'\n', 'pull_request.reverted', d.account_id, d.url))::uuid;
BEGIN
    IF d.reverted_at < now() - interval '30 days' OR NOT fact_note(d.account_id, fact) THEN
        RETURN NULL;
    END IF;
    PERFORM message_send(fact, 'events.runs', 'pull_request.reverted', d.account_id, deliverable_message(d) || jsonb_build_object(
        'reverted_at', time_json(d.reverted_at), 'reverted_by', d.reverted_by));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER deliverable_reverted AFTER UPDATE OF reverted_at ON deliverable FOR EACH ROW
WHEN (NEW.reverted_at IS NOT NULL AND OLD.reverted_at IS NULL) EXECUTE FUNCTION deliverable_announce_revert();
CREATE OR REPLACE TRIGGER deliverable_new AFTER INSERT ON deliverable FOR EACH ROW
WHEN (NEW.kind <> 'other') EXECUTE FUNCTION deliverable_announce();
CREATE OR REPLACE TRIGGER deliverable_passed AFTER UPDATE OF stage, kind ON deliverable FOR EACH ROW
WHEN (NEW.kind <> 'other' AND (NEW.stage, NEW.kind) <> (OLD.stage, OLD.kind)) EXECUTE FUNCTION deliverable_announce();
