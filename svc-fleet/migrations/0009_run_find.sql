-- Finding a run by what a user has at hand: its id, or the link of what it opened.
CREATE INDEX run_key_by_id ON run_key (account_id, run_key);

-- The newest run with that id (in that repository, unless null) or that link; no row: there is none.
CREATE FUNCTION run_find(account uuid, repo text, run_id jsonb, url text) RETURNS SETOF run LANGUAGE plpgsql STABLE AS $$
DECLARE
    key text := run_find.run_id #>> '{}';
BEGIN
    IF key IS NOT NULL THEN
        RETURN QUERY SELECT r.* FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
            WHERE k.account_id = account AND k.run_key = key AND (run_find.repo IS NULL OR k.repo_key = lower(run_find.repo))
            ORDER BY r.at DESC, r.id DESC LIMIT 1;
    ELSE
        RETURN QUERY SELECT r.* FROM run r
            WHERE r.account_id = account AND r.artifact_url = url AND (run_find.repo IS NULL OR r.repo_key = lower(run_find.repo))
            ORDER BY r.at DESC, r.id DESC LIMIT 1;
    END IF;
END $$;

-- The gates of a run that it told of, and what each decided: `passed`, `stopped` or `unknown`.
CREATE FUNCTION run_gates(record jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'name', g.name, 'status', CASE gate_verdict(record ->> g.name) WHEN 1 THEN 'passed' WHEN -1 THEN 'stopped'
                                  ELSE 'unknown' END, 'detail', record ->> g.name) ORDER BY g.place), '[]')
    FROM (VALUES (1, 'preflight_decision'), (2, 'license_compat'), (3, 'diff_risk_band'), (4, 'lint_status'),
                 (5, 'test_status'), (6, 'test_integration_gate')) AS g (place, name)
    WHERE record ->> g.name IS NOT NULL
$$;

-- What was said about a run: texts that are made once for a state of the run and then kept.
--
--   kind     `analysis` or `digest`
--   version  the state of the run that it was said about (run_version)
CREATE TABLE run_text (
    run        uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('analysis', 'digest')),
    account_id uuid NOT NULL,
    version    text NOT NULL,
    body       jsonb NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run, kind)
);

CREATE INDEX run_text_account ON run_text (account_id);
CREATE TRIGGER account_required BEFORE INSERT ON run_text FOR EACH ROW EXECUTE FUNCTION account_required();

-- Changes whenever something changes that a text may speak of: the run's record, or the stage of what it opened.
CREATE FUNCTION run_version(r run, stage text) RETURNS text LANGUAGE sql STABLE
RETURN extract(epoch FROM r.changed_at)::text || ' ' || coalesce(stage, '');
