-- Runs as parts of a graph of evidence (candidate/run_evidence.h).

-- What a run is known to have cost; null: it is unknown, or what is counted for it is an assumption.
CREATE OR REPLACE FUNCTION run_known_spend(usd numeric, basis text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN basis IN ('reported', 'estimated') THEN usd END;

CREATE OR REPLACE FUNCTION run_evidence_node(r run) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN evidence_node(r.id::text, 'run', r.at, NULL, json_build_object(
        'repo', r.repo, 'run_id', r.run_id, 'interest_id', r.interest_id, 'agent', r.agent, 'provider', r.record -> 'provider',
        'model', r.record -> 'model', 'status', r.status, 'outcome_kind', r.outcome_kind, 'cause', r.cause, 'gates', run_gates(r.record),
        'cost_usd', run_known_spend(r.spend_usd, r.spend_basis), 'cost_basis', r.spend_basis, 'input_tokens', r.input_tokens,
        'output_tokens', r.output_tokens, 'finished_at', time_json(r.finished_at)));
END $$;

-- What a run looked for: the first 20 of its queries, where it reports them as texts.
CREATE OR REPLACE FUNCTION run_queries(detail jsonb) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (SELECT json_agg(left(query #>> '{}', 300)) FROM jsonb_path_query(detail, '$.refine_queries[0 to 19] ? (@.type() == "string")') AS query);
END $$;
