-- Costs that stand out, without a budget: of a run, of an account's day, and of runs that fail in a row.
--
-- The transaction that stores what a run cost notes the run (cost_look). Later one compares it with those before it, and what stands out is
-- noted, put into the inbox and sent in the same transaction, once. Medians, and without what is compared: neither one dear day nor the
-- spike itself hides it.

-- Note runs that have ended and whose cost is new. Waits for who is looking at the run: that one may have seen the former cost.
CREATE OR REPLACE FUNCTION cost_look_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO cost_look (account_id, run, first_at)
    SELECT (c.became).account_id, (c.became).id, (c.became).first_at FROM unnest(changes) c
    WHERE (c.became).spend_usd > 0 AND (c.became).outcome_kind <> 'running'
      AND ((c.became).spend_usd, (c.became).outcome_kind) IS DISTINCT FROM ((c.was).spend_usd, (c.was).outcome_kind)
    ORDER BY 2
    ON CONFLICT (run) DO UPDATE SET first_at = excluded.first_at;
END $$;

-- What stood out, in words.
CREATE OR REPLACE FUNCTION cost_unusual_title(u cost_unusual) RETURNS text LANGUAGE sql STABLE
RETURN CASE u.kind
    WHEN 'run' THEN 'Run ' || run_id_text(u.run_ids -> 0) || ' on ' || u.repo || ' cost ' || usd_text(u.usd) || ' USD; runs of ' || u.agent
        || coalesce(' with ' || u.model, '') || ' usually cost ' || usd_text(u.compared_usd)
    WHEN 'day' THEN 'The runs of ' || u.subject || ' cost ' || usd_text(u.usd) || ' USD; those of a day usually cost '
        || usd_text(u.compared_usd)
    ELSE 'Three runs in a row on ' || u.repo || ' failed and cost ' || usd_text(u.usd) || ' USD of a budget of '
        || usd_text(u.compared_usd) END;

-- The page of the run that stood out, or of the agents.
CREATE OR REPLACE FUNCTION cost_unusual_path(u cost_unusual) RETURNS text LANGUAGE sql STABLE
RETURN CASE u.kind WHEN 'run' THEN run_page_path(u.run_ids -> 0) ELSE '/console/agents' END;

-- What stood out, as the message `cost.unusual` and the evidence of findings have it.
CREATE OR REPLACE FUNCTION cost_unusual_json(u cost_unusual) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('kind', u.kind, 'title', cost_unusual_title(u), 'repo', u.repo, 'agent', u.agent, 'model', u.model,
                              'run_ids', u.run_ids, 'usd', u.usd, 'compared_usd', u.compared_usd, 'at', time_json(u.at))
$$;

-- Note what stands out, and tell of it, unless that was done. It is kept for the reports of a year.
CREATE OR REPLACE FUNCTION cost_unusual_note(u cost_unusual) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO cost_unusual (account_id, kind, subject, repo_key, repo, agent, model, run_ids, usd, compared_usd, at)
    VALUES (u.account_id, u.kind, u.subject, u.repo_key, u.repo, u.agent, u.model, coalesce(u.run_ids, '[]'), trim_scale(round(u.usd, 6)),
            trim_scale(round(u.compared_usd, 6)), u.at)
    ON CONFLICT DO NOTHING RETURNING * INTO u;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM cost_unusual x WHERE x.account_id = u.account_id AND x.found_at < now() - interval '400 days';
    PERFORM inbox_mark(u.account_id, clock_timestamp());
    PERFORM message_emit('events.runs', 'cost.unusual', u.account_id, cost_unusual_json(u) || jsonb_build_object('url', cost_unusual_path(u)));
END $$;

-- A run: more than five times the median of the last 30 of its agent and model, of which there are 8, and more than a dollar. Runs that
-- cost nothing did not come to their agent, and what is assumed is no cost that somebody knows. Of the agent's runs the last 2,000 are
-- read, however few of them have a cost.
CREATE OR REPLACE FUNCTION cost_look_at_run(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    usual record;
    u cost_unusual;
BEGIN
    IF r.agent IS NULL OR r.spend_usd <= 1 OR r.spend_basis = 'assumed' THEN
        RETURN;
    END IF;
    SELECT count(*) AS runs, percentile_cont(0.5) WITHIN GROUP (ORDER BY x.spend_usd) AS usd INTO usual
    FROM (SELECT l.spend_usd FROM (
              SELECT o.spend_usd, o.at, o.id, o.record ->> 'model' AS model FROM (
                  SELECT a.spend_usd, a.spend_basis, a.at, a.id, a.record FROM run a
                  WHERE a.account_id = r.account_id AND a.agent = r.agent AND (a.at, a.id) < (r.at, r.id)
                  ORDER BY a.at DESC, a.id DESC LIMIT 2000) o
              WHERE o.spend_usd > 0 AND o.spend_basis <> 'assumed'
              ORDER BY o.at DESC, o.id DESC LIMIT 200) l
          WHERE l.model IS NOT DISTINCT FROM r.record ->> 'model' ORDER BY l.at DESC, l.id DESC LIMIT 30) x;
    IF usual.runs >= 8 AND r.spend_usd > 5 * usual.usd THEN
        u := (r.account_id, 'run', r.id, r.repo_key, r.repo, r.agent, r.record ->> 'model', jsonb_build_array(r.run_id), r.spend_usd,
              usual.usd, r.at, NULL)::cost_unusual;
        PERFORM cost_unusual_note(u);
    END IF;
END $$;

-- A run that failed, with the two before it of its agent on the repository, of whose runs the last 2,000 are read: more than a fifth of
-- the smallest budget of a day or a week.
CREATE OR REPLACE FUNCTION cost_look_at_failures(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    smallest numeric := (SELECT min(b.usd) FROM budget b WHERE b.account_id = r.account_id AND b.period IN ('day', 'week')
                                                           AND budget_has(b, r.repo_key, spend_budget_interest(r)));
    last record;
    u cost_unusual;
BEGIN
    IF smallest IS NULL OR r.outcome_kind <> 'failed' THEN
        RETURN;
    END IF;
    SELECT count(*) FILTER (WHERE x.outcome_kind = 'failed') AS failed, sum(x.spend_usd) AS usd, jsonb_agg(x.run_id ORDER BY x.at, x.id) AS run_ids
    INTO last
    FROM (SELECT o.* FROM (
              SELECT a.run_id, a.outcome_kind, a.agent, a.spend_usd, a.at, a.id FROM run a
              WHERE a.account_id = r.account_id AND a.repo_key = r.repo_key AND (a.at, a.id) <= (r.at, r.id)
              ORDER BY a.at DESC, a.id DESC LIMIT 2000) o
          WHERE o.agent IS NOT DISTINCT FROM r.agent AND o.outcome_kind <> 'running'
          ORDER BY o.at DESC, o.id DESC LIMIT 3) x;
    IF last.failed = 3 AND last.usd > smallest / 5 THEN
        u := (r.account_id, 'failures', concat_ws(' ', r.repo_key, r.agent, (r.at AT TIME ZONE 'UTC')::date), r.repo_key, r.repo, r.agent,
              r.record ->> 'model', last.run_ids, last.usd, smallest, r.at, NULL)::cost_unusual;
        PERFORM cost_unusual_note(u);
    END IF;
END $$;

-- A day (UTC) of an account: more than three times the median of the last 28 days with costs before it, of which there are 7, and more
-- than five dollars.
CREATE OR REPLACE FUNCTION cost_look_at_day(account uuid, day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    begins timestamptz := day::timestamp AT TIME ZONE 'UTC';
    usd numeric;
    usual record;
    u cost_unusual;
BEGIN
    IF EXISTS (SELECT FROM cost_unusual x WHERE x.account_id = account AND x.kind = 'day' AND x.subject = day::text) THEN
        RETURN;
    END IF;
    usd := (SELECT sum(spend_between(r, begins, begins + interval '24 hours')) FROM run r
            WHERE r.account_id = account AND r.at >= begins AND r.at < begins + interval '24 hours');
    IF (usd > 5) IS NOT TRUE THEN
        RETURN;
    END IF;
    SELECT count(*) AS days, percentile_cont(0.5) WITHIN GROUP (ORDER BY x.usd) AS usd INTO usual
    FROM (SELECT sum(r.spend_usd) AS usd FROM run r
          WHERE r.account_id = account AND r.at >= begins - interval '90 days' AND r.at < begins AND r.spend_usd > 0
          GROUP BY (r.at AT TIME ZONE 'UTC')::date ORDER BY (r.at AT TIME ZONE 'UTC')::date DESC LIMIT 28) x;
    IF usual.days >= 7 AND usd > 3 * usual.usd THEN
        u := (account, 'day', day, NULL, NULL, NULL, NULL, NULL, usd, usual.usd, begins, NULL)::cost_unusual;
        PERFORM cost_unusual_note(u);
    END IF;
END $$;

-- Take runs of an account that are to be compared, 50 at most: null, if others look at them.
CREATE OR REPLACE FUNCTION cost_look_take(account uuid) RETURNS cost_look[] LANGUAGE sql AS $$
    WITH taken AS (
        DELETE FROM cost_look l USING (SELECT x.run FROM cost_look x WHERE x.account_id = account ORDER BY x.run LIMIT 50
                                       FOR UPDATE SKIP LOCKED) free
        WHERE l.run = free.run RETURNING l)
    SELECT array_agg(t.l) FROM taken t
$$;

-- Look at runs of an account, and at their days. Those that started a week ago are no news.
CREATE OR REPLACE FUNCTION cost_look(looks cost_look[], account uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    days date[] := '{}';
    day date;
    r run;
BEGIN
    FOR r IN SELECT x.* FROM unnest(looks) l JOIN run x ON x.id = l.run AND x.first_at = l.first_at
             WHERE x.at > now() - interval '7 days' AND x.spend_usd > 0 ORDER BY x.at, x.id LOOP
        PERFORM cost_look_at_run(r);
        PERFORM cost_look_at_failures(r);
        days := days || (r.at AT TIME ZONE 'UTC')::date;
    END LOOP;
    FOR day IN SELECT DISTINCT d FROM unnest(days) d ORDER BY d LOOP
        PERFORM cost_look_at_day(account, day);
    END LOOP;
END $$;

-- Look at runs of an account that are to be compared. Those that cannot be compared are left out.
--
--   is_done  false: there are none, or others look at them
--   fault    why they could not be compared
CREATE OR REPLACE FUNCTION cost_look_account(account uuid, OUT is_done boolean, OUT fault text) LANGUAGE plpgsql AS $$
DECLARE
    looks cost_look[];
BEGIN
    PERFORM account_lock(account, false);
    looks := cost_look_take(account);
    is_done := looks IS NOT NULL;
    BEGIN
        PERFORM cost_look(looks, account);
    EXCEPTION
        WHEN deadlock_detected OR lock_not_available OR serialization_failure THEN
            RAISE;
        WHEN OTHERS THEN
            fault := SQLSTATE || ' ' || SQLERRM;
    END;
END $$;
