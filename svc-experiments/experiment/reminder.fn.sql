-- What somebody should be reminded of about an experiment. svc-fleet hears of it with each event and shows it in the inbox once it is due.
-- Which status follows which is free, so these are no rules that anything refuses.

-- How long an experiment may run without a result: `planned_days` of its plan, else two weeks.
CREATE OR REPLACE FUNCTION planned_time(config jsonb) RETURNS interval LANGUAGE sql IMMUTABLE
RETURN make_interval(days => CASE WHEN jsonb_typeof(config -> 'planned_days') = 'number' AND (config ->> 'planned_days')::numeric BETWEEN 1 AND 365
                                  THEN (config ->> 'planned_days')::numeric::int ELSE 14 END);

-- Whether there is anything to decide by: an analysis, a delta that was typed, or results of any form.
CREATE OR REPLACE FUNCTION experiment_has_data(e experiment) RETURNS boolean LANGUAGE sql STABLE
RETURN e.analysis_id IS NOT NULL OR e.observed_delta IS NOT NULL OR coalesce(e.ab_test_results, '{}') <> '{}';

-- [{"kind", "at"}]: each with the time from which it is worth a word, as long as the experiment is as it is now.
--
--   experiment_overdue                it runs, and there was no result for its planned time
--   experiment_decided_without_data   somebody decided to ship or to iterate, and there is nothing to decide by
--   experiment_shipped_without_merge  it was shipped, and its pull request is not merged, or there is none
-- The last two leave a day for what is written after the outcome and the status. No time follows other changes: svc-fleet has a reminder
-- with another time for another one, which nobody has dismissed.
CREATE OR REPLACE FUNCTION experiment_reminders(e experiment) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT coalesce(jsonb_agg(jsonb_build_object('kind', r.kind, 'at', time_json(r.at))), '[]')
    FROM (VALUES
        ('experiment_overdue', CASE WHEN e.status = 'running' THEN
            greatest(coalesce(e.status_at, e.updated_at), (SELECT x.at FROM experiment_result x WHERE x.id = e.analysis_id)) + planned_time(e.ab_test_config) END),
        ('experiment_decided_without_data', CASE WHEN NOT experiment_has_data(e) THEN
            least(CASE WHEN e.outcome IN ('ship', 'iterate') THEN coalesce(e.outcome_at, e.updated_at) END,
                  CASE WHEN e.status = 'shipped' THEN coalesce(e.status_at, e.updated_at) END) + interval '24 hours' END),
        ('experiment_shipped_without_merge', CASE WHEN e.status = 'shipped' AND lower(e.pr_status) IS DISTINCT FROM 'merged' THEN
            coalesce(e.status_at, e.updated_at) + interval '24 hours' END)) AS r (kind, at)
    WHERE r.at IS NOT NULL);
END $$;
