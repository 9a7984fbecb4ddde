-- Whether a recommendation is shown for a period: from its start on, and of the context that the interest has now; `all`
-- is what was ever recommended.
CREATE FUNCTION is_of_period(r recommendation, i interest, period text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT r.recommended_at >= period_start(period) AND (period = 'all' OR r.context_version = i.context_version)
$$;
