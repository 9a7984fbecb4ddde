-- Digests: the papers that an endpoint of messages is sent at an hour of its own (digest/digest_message.h).

-- Whether the refresh of the day (UTC) has nothing more to bring to the account: it has no active interest, or its task of the day has
-- ended, or the account had none to refresh when the tasks were made.
CREATE OR REPLACE FUNCTION day_is_refreshed(account uuid, day date) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM interest_count c WHERE c.account_id = account AND c.active > 0)
        OR EXISTS (SELECT FROM daily_run d WHERE d.day = day_is_refreshed.day AND (d.next_account IS NULL OR d.next_account >= account))
       AND NOT EXISTS (SELECT FROM task t WHERE t.account_id = account AND t.kind = 'recommendations_refresh_all'
                         AND t.status IN ('pending', 'running') AND t.input ->> 'day' = day_is_refreshed.day::text)
$$;

-- Start the tasks of up to `most` digests whose account is refreshed, or that have waited for two hours. One that is six hours late is
-- left out, and so are those of accounts that are being deleted. Returns how many are over.
CREATE OR REPLACE FUNCTION digests_start(most int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    d    digest_due;
    over bigint := 0;
BEGIN
    FOR d IN
        DELETE FROM digest_due x WHERE x.endpoint_id = ANY (ARRAY(
            SELECT locked.endpoint_id
            FROM (SELECT w.endpoint_id, w.due_at FROM digest_due w
                  WHERE w.due_at <= now() - interval '2 hours' OR day_is_refreshed(w.account_id, (w.due_at AT TIME ZONE 'UTC')::date)
                  ORDER BY w.due_at OFFSET 0) ready
            CROSS JOIN LATERAL (
                SELECT w.endpoint_id FROM digest_due w
                WHERE w.endpoint_id = ready.endpoint_id AND w.due_at = ready.due_at AND account_share_try(w.account_id)
                FOR UPDATE SKIP LOCKED) locked
            LIMIT most))
        RETURNING x.*
    LOOP
        over := over + 1;
        PERFORM task_put('digest', d.account_id, d.settings || jsonb_build_object('endpoint_id', d.endpoint_id, 'local_date', d.local_date),
                         NULL, NULL)
        WHERE d.due_at > now() - interval '6 hours';
    END LOOP;
    RETURN over;
END $$;

-- The first three texts of an array, each cut.
CREATE OR REPLACE FUNCTION first_texts(list jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(left(x.text, 60) ORDER BY x.place), '[]')
    FROM jsonb_array_elements_text(CASE jsonb_typeof(list) WHEN 'array' THEN list ELSE '[]' END) WITH ORDINALITY AS x (text, place)
    WHERE x.place <= 3
$$;

-- A paper of a digest. Long texts are cut, so that twenty papers are less than a message may have.
CREATE OR REPLACE FUNCTION digest_paper(r recommendation, p paper) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'recommendation_id', r.id, 'source_type', source_type(r), 'arxiv_id', r.arxiv_id, 'title', left(p.asset ->> 'title', 200),
        'url', p.asset -> 'url', 'relevance_score', r.relevance_score, 'reasoning', left(r.reasoning, 200),
        'authors', first_texts(p.asset -> 'authors'), 'categories', first_texts(p.asset -> 'categories'),
        'recommended_at', time_json(r.recommended_at))
$$;

-- The papers of an account that were recommended in a time and are not rated: at most `most` of each interest, and twenty in all, of
-- which each interest has its best first. {"interests": [{"id", "name", "daily_count", "pool_status", "count", "message",
-- "recommendations"}], "total", "truncated"}; `count` and `total` also have those that are left out; an interest of which no paper is
-- listed is not listed either.
CREATE OR REPLACE FUNCTION digest_papers(account uuid, since timestamptz, until timestamptz, interests uuid[], least_score float8, most int)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    WITH found AS MATERIALIZED (
        SELECT r.id, r.interest_id, r.relevance_score,
               row_number() OVER (PARTITION BY r.interest_id ORDER BY r.relevance_score DESC, r.id) AS place
        FROM interest i JOIN recommendation r ON r.interest_id = i.id AND r.context_version = i.context_version
        WHERE i.account_id = account AND i.is_active AND (interests IS NULL OR i.id = ANY (interests))
          AND r.recommended_at >= since AND r.recommended_at < until AND r.relevance_score >= least_score
          AND NOT EXISTS (SELECT FROM feedback f WHERE f.recommendation_id = r.id)
    ), shown AS MATERIALIZED (
        SELECT * FROM found WHERE place <= most ORDER BY place, relevance_score DESC, id LIMIT 20
    ), of_interest AS (
        SELECT interest_id, count(*) AS count, max(relevance_score) AS best FROM found GROUP BY interest_id
    )
    SELECT jsonb_build_object(
        'interests', coalesce(jsonb_agg(jsonb_build_object(
            'id', i.id, 'name', i.name, 'daily_count', i.daily_count, 'pool_status', i.pool_status, 'count', o.count, 'message', NULL,
            'recommendations', (SELECT coalesce(jsonb_agg(digest_paper(r, p) ORDER BY s.place), '[]')
                                FROM shown s JOIN recommendation r ON r.id = s.id JOIN paper p USING (arxiv_id)
                                WHERE s.interest_id = i.id)) ORDER BY o.best DESC, i.id)
            FILTER (WHERE i.id IS NOT NULL), '[]'),
        'total', coalesce(sum(o.count), 0),
        'truncated', (SELECT count(*) FROM found WHERE place <= most) > (SELECT count(*) FROM shown))
    FROM of_interest o LEFT JOIN interest i ON i.id = o.interest_id AND i.id IN (SELECT s.interest_id FROM shown s)
$$;

-- When the papers of a digest begin to be recommended: since the one before, or, for the first, a day before; of a longer period also
-- those that were sent before.
CREATE OR REPLACE FUNCTION digest_since(period text, told_until timestamptz, until timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN CASE period WHEN 'week' THEN until - interval '168 hours'
                   WHEN 'month' THEN until - interval '720 hours'
                   ELSE coalesce(told_until, until - interval '24 hours') END;

-- Send an endpoint of the account the digest that a task has as its input. The papers are those up to the time of the message, from
-- which the next digest goes on: refreshes under way are waited for, since one stamps its papers after it has locked its interest. The
-- id is that of the date, so that a date is sent once.
CREATE OR REPLACE FUNCTION digest_make(account uuid, input jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    until timestamptz := date_trunc('milliseconds', now());
    w     record;
    data  jsonb;
BEGIN
    SELECT * INTO w FROM jsonb_to_record(input) AS r (
        endpoint_id uuid, local_date date, time_zone text, interest_ids uuid[], "limit" int, min_score float8, skip_empty boolean,
        period text, told_until timestamptz);
    PERFORM FROM interest i WHERE i.account_id = account ORDER BY i.id FOR KEY SHARE;
    data := digest_papers(account, digest_since(w.period, w.told_until, until), until, w.interest_ids, w.min_score, w."limit");
    IF w.skip_empty AND data -> 'total' = '0' THEN
        RETURN;
    END IF;
    PERFORM event_send(
        md5(w.endpoint_id || ' ' || w.local_date)::uuid, 'events.interests', 'message', NULL, account, jsonb_build_object(
            'type', 'digest.ready', 'endpoint_id', w.endpoint_id, 'data', data || jsonb_build_object(
                'date', w.local_date, 'local_date', w.local_date, 'time_zone', w.time_zone, 'period', w.period,
                'source_types', source_types()::jsonb,
                'message', CASE WHEN data -> 'total' = '0' THEN 'Nothing new above the threshold.' END, 'url', '/console/')));
END $$;
