CREATE OR REPLACE FUNCTION source_type(r recommendation) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT paper_source(r.arxiv_id) || '_paper'
$$;

-- All of them.
CREATE OR REPLACE FUNCTION source_types() RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '["arxiv_paper", "biorxiv_paper", "medrxiv_paper"]'::json;

-- What readers said of a recommendation, the newest first.
CREATE OR REPLACE FUNCTION recommendation_signals(recommendation uuid) RETURNS TABLE (signals json) LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(f.signal ORDER BY f.recorded_at DESC, f.signal), '[]') FROM feedback f WHERE f.recommendation_id = recommendation
$$;

-- Give a signal of a recommendation, which revokes others of it. A repeated signal keeps the time of the first; it is that of who gave it
-- last. Signals of a recommendation take turns: each statement after the lock sees what was given before. No row: no such recommendation.
CREATE OR REPLACE FUNCTION feedback_give(account uuid, recommendation uuid, given text, revoked text[], person uuid)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM recommendation r WHERE r.account_id = account AND r.id = recommendation FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM feedback f WHERE f.recommendation_id = recommendation AND f.signal = ANY (revoked);
    RETURN QUERY
    INSERT INTO feedback AS f (recommendation_id, signal, person_id) VALUES (recommendation, given, person)
    ON CONFLICT (recommendation_id, signal) DO UPDATE SET recorded_at = f.recorded_at, person_id = excluded.person_id
    RETURNING jsonb_build_object('recommendation_id', f.recommendation_id, 'signal', f.signal, 'recorded_at', time_json(f.recorded_at));
END $$;

-- When a period began: today since midnight UTC, week today and the 6 days before, month today and the 29 days before.
CREATE OR REPLACE FUNCTION period_start(period text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE period WHEN 'today' THEN date_trunc('day', now(), 'UTC')
                       WHEN 'week' THEN date_trunc('day', now(), 'UTC') - interval '144 hours'
                       WHEN 'month' THEN date_trunc('day', now(), 'UTC') - interval '696 hours'
                       ELSE '-infinity' END
$$;

-- Whether a recommendation is shown for a period: from its start on, and of the context that the interest has now; `all`
-- is what was ever recommended.
CREATE OR REPLACE FUNCTION is_of_period(r recommendation, i interest, period text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT r.recommended_at >= period_start(period) AND (period = 'all' OR r.context_version = i.context_version)
$$;

-- Notify the account that papers were recommended for an interest: `made` has {"id", "arxiv_id", "relevance_score", "rank",
-- "reasoning"} of each. In the statement that makes them, which no function sees yet. The five best are named.
CREATE OR REPLACE FUNCTION recommendations_announce(i interest, task uuid, made jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    top jsonb;
BEGIN
    SELECT jsonb_agg(jsonb_build_object(
        'recommendation_id', r.id, 'arxiv_id', r.arxiv_id, 'title', p.asset -> 'title', 'url', p.asset -> 'url',
        'relevance_score', r.relevance_score, 'reasoning', r.reasoning) ORDER BY r.rank) INTO top
    FROM (SELECT * FROM jsonb_to_recordset(made) AS x (id uuid, arxiv_id text, relevance_score double precision, rank int,
                                                       reasoning text)
          ORDER BY x.rank LIMIT 5) r JOIN paper p USING (arxiv_id);
    PERFORM message_emit('events.interests', 'recommendations.refreshed', i.account_id, jsonb_build_object(
        'interest_id', i.id, 'interest_name', i.name, 'task_id', task, 'count', jsonb_array_length(made), 'top', top,
        'url', '/console/?interest=' || i.id))
    WHERE top IS NOT NULL;
END $$;
