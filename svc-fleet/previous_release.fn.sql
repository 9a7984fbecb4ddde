-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

CREATE OR REPLACE FUNCTION code_host_item_tell(repo text, kind text, number bigint, state text, opened_at timestamptz,
                                               closed_at timestamptz, told_at timestamptz) RETURNS void LANGUAGE sql AS $$
    SELECT code_host_item_update(repo, kind, number, state, opened_at, closed_at, told_at, false)
$$;

CREATE OR REPLACE FUNCTION code_host_items_tell(repo text, kind text, items jsonb) RETURNS bigint LANGUAGE sql AS $$
    SELECT code_host_items_update(repo, kind, items)
$$;

CREATE OR REPLACE FUNCTION workflow_runs_tell(repo text, runs jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT workflow_runs_update(repo, runs)
$$;

CREATE OR REPLACE FUNCTION run_started_tell(account uuid, repo text, run bigint, at text) RETURNS void LANGUAGE sql AS $$
    SELECT run_started_note(account, repo, run, at)
$$;

-- It does not say when the code host was asked.
CREATE OR REPLACE FUNCTION run_status_tell(account uuid, repo text, run jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT run_status_update(account, repo, run, clock_timestamp())
$$;

CREATE OR REPLACE FUNCTION runs_tell(tellings jsonb) RETURNS TABLE (place bigint, is_new boolean, shown jsonb) LANGUAGE sql AS $$
    SELECT place, is_new, shown FROM runs_update(tellings)
$$;

CREATE OR REPLACE FUNCTION run_page(account uuid, in_repo text, in_repos text[], with_outcome text, by_agent text, of_interest text,
                         of_paper text, since date, until date, merged_since date, merged_until date, has_detail boolean, page_limit bigint,
                         page_offset bigint,
                         OUT total bigint, OUT page json) LANGUAGE sql AS $$
    SELECT p.total, p.page FROM run_page(account, in_repo, in_repos, NULL, with_outcome, by_agent, of_interest, of_paper, since, until,
                                         merged_since, merged_until, has_detail, page_limit, page_offset) p
$$;

CREATE OR REPLACE FUNCTION run_outline(account uuid, in_repo text, in_repos text[], with_outcome text, by_agent text, of_interest text,
                            of_paper text, since date, until date, merged_since date, merged_until date, most int,
                            OUT ids json, OUT names json, OUT total bigint) LANGUAGE sql AS $$
    SELECT o.ids, o.names, o.total FROM run_outline(account, in_repo, in_repos, NULL, with_outcome, by_agent, of_interest, of_paper, since,
                                                    until, merged_since, merged_until, most) o
$$;

CREATE OR REPLACE FUNCTION reservation_expire_next() RETURNS boolean LANGUAGE sql AS $$
    SELECT count(e) > 0 FROM (SELECT r.id FROM reservation r WHERE r.state = 'held' AND r.expires_at <= now() ORDER BY r.expires_at LIMIT 1) due,
        reservation_expire_due(due.id) e
$$;

CREATE OR REPLACE FUNCTION budget_check_next(OUT budget_id uuid, OUT drift_usd numeric) LANGUAGE sql AS $$
    SELECT due.id, c.drift_usd FROM (SELECT b.id FROM budget b WHERE budget_is_due(b) ORDER BY b.checked_at LIMIT 1) due,
        budget_check_due(due.id) c
$$;

CREATE OR REPLACE FUNCTION cost_look_next() RETURNS boolean LANGUAGE sql AS $$
    SELECT coalesce(bool_or(c.is_done), false) FROM (SELECT l.account_id FROM cost_look l LIMIT 1) due, cost_look_account(due.account_id) c
$$;

CREATE OR REPLACE FUNCTION run_rows(account uuid, ids jsonb) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(run_json(r) || jsonb_build_object(
               'duration_seconds', extract(epoch FROM r.finished_at - (r.record ->> 'started_at')::timestamptz)) ORDER BY i.place), '[]')
    FROM jsonb_array_elements_text(ids) WITH ORDINALITY AS i (named, place)
    JOIN run r ON r.id = split_part(i.named, ' ', 1)::uuid AND r.first_at = substr(i.named, 38)::timestamptz AND r.account_id = account
$$;
