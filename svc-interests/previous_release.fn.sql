-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

CREATE OR REPLACE FUNCTION recommendation_json(r recommendation, interest_name text, p paper) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT recommendation_shown(r, interest_name, p, s.signals)::jsonb FROM recommendation_signals(r.id) s
$$;
