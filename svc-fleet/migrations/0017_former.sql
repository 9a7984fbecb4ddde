-- What the former version calls, by what took its place: it still runs while its processes are replaced. To be dropped in the next
-- release.

CREATE FUNCTION run_report(account uuid, repo text, run_id jsonb, report jsonb, detail jsonb, OUT is_new boolean, OUT shown jsonb)
LANGUAGE sql AS $$
    SELECT t.is_new, t.shown FROM runs_tell(jsonb_build_array(jsonb_build_object(
        'account', account, 'repo', repo, 'run_id', run_id, 'report', report, 'detail', detail))) t
$$;

CREATE FUNCTION workflow_run_tell_json(repo text, run jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT workflow_runs_tell(repo, jsonb_build_array(run))
$$;

CREATE FUNCTION workflow_run_tell(repo text, run_id bigint, state text, outcome text, told_at timestamptz) RETURNS void
LANGUAGE sql AS $$
    SELECT workflow_run_tell_json(repo, jsonb_build_object(
        'run_id', run_id, 'status', CASE state WHEN 'ended' THEN 'completed' ELSE 'in_progress' END, 'conclusion', outcome,
        'updated_at', told_at))
$$;

CREATE FUNCTION run_page(account uuid, in_repo text, with_outcome text, by_agent text, of_interest text, of_paper text, since date,
                         until date, merged_since date, merged_until date, has_detail boolean, page_limit bigint,
                         page_offset bigint,
                         OUT total bigint, OUT page json)
LANGUAGE sql STABLE AS $$
    SELECT p.total, p.page
    FROM run_page(account, in_repo, NULL, with_outcome, by_agent, of_interest, of_paper, since, until, merged_since, merged_until,
                  has_detail, page_limit, page_offset) p
$$;

CREATE FUNCTION fleet_agents(account uuid, since date, until date, repos text[], step text, OUT agents json, OUT count bigint)
LANGUAGE sql STABLE AS $$
    SELECT a.agents::json, a.count FROM fleet_agents(account, since, until, repos, step, until) a
$$;

-- The former version asks fleet_facts() for all that the rules for findings look at, this one fleet_report(), which adds two parts to
-- fleet_found().
ALTER FUNCTION fleet_facts(uuid, date, date, text[]) RENAME TO fleet_found;

CREATE OR REPLACE FUNCTION fleet_report(account uuid, since date, until date, repos text[], step text,
                                        OUT sums json, OUT merged bigint, OUT median_hours numeric, OUT agents text,
                                        OUT agents_count bigint, OUT facts jsonb) LANGUAGE plpgsql STABLE AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    middle date := since + (until - since) / 2;
    m record;
    a record;
BEGIN
    m := fleet_merged(account, from_time, to_time, repos, (middle + 1)::timestamp AT TIME ZONE 'UTC');
    a := fleet_agents(account, since, until, repos, step, middle);
    sums := fleet_sums(account, since, until, repos);
    merged := m.merged;
    median_hours := round(m.median_hours::numeric, 2);
    agents := a.agents;
    agents_count := a.count;
    facts := fleet_found(account, since, until, repos) || jsonb_build_object(
        'silent', a.silent, 'halves', jsonb_build_array(
            jsonb_build_object('since', since, 'until', middle, 'cost_usd', a.cost_first, 'merged', m.merged_first),
            jsonb_build_object('since', middle + 1, 'until', until, 'cost_usd', a.cost_second,
                               'merged', m.merged - m.merged_first)));
END $$;

CREATE FUNCTION fleet_facts(account uuid, since date, until date, repos text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT r.facts FROM fleet_report(account, since, until, repos, 'month') r
$$;
