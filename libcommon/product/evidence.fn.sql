-- Parts of the graph that shows how an experiment came to its decision, to which several services contribute
-- (svc-experiments/evidence/evidence.h), the rule of what became of a paper that was tried, and shares of such papers.

CREATE OR REPLACE FUNCTION evidence_node(id text, kind text, at timestamptz, url text, data json) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN json_build_object('id', id, 'kind', kind, 'at', time_json(at), 'url', url, 'data', data);
END $$;

-- An edge that a record states.
CREATE OR REPLACE FUNCTION evidence_edge(from_node text, to_node text, kind text, at timestamptz, data json DEFAULT NULL) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN json_build_object('from', from_node, 'to', to_node, 'kind', kind, 'at', time_json(at), 'basis', 'stated', 'data', data);
END $$;

-- An edge that no record states, and the rule by which it was inferred.
CREATE OR REPLACE FUNCTION evidence_inferred(from_node text, to_node text, kind text, at timestamptz, rule text) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN json_build_object('from', from_node, 'to', to_node, 'kind', kind, 'at', time_json(at), 'basis', 'inferred',
                             'data', json_build_object('rule', rule));
END $$;

-- What became of an experiment, or of a pull request that no experiment names (`outcome` and `status` null): `worked`, `failed`, `pending`
-- or `untried`. A person's decision counts before what the code host says; a merge counts after 30 days.
CREATE OR REPLACE FUNCTION trial_verdict(outcome text, status text, pr_status text, merged_at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN outcome = 'ship' OR status = 'shipped' THEN 'worked'
        WHEN outcome = 'abandon' OR status IN ('rejected', 'abandoned') THEN 'failed'
        WHEN merged_at <= now() - interval '30 days' THEN 'worked'
        WHEN pr_status = 'closed' THEN 'failed'
        WHEN status = 'draft' AND outcome IS NULL AND pr_status IS NULL THEN 'untried'
        ELSE 'pending' END
$$;

-- A share with its 95 % interval by Wilson's score (Wilson, 1927, equation 2 with z = 1.96); null below 5, of which it would say nothing.
CREATE OR REPLACE FUNCTION share_json(n bigint, total bigint) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN total >= 5 THEN json_build_object(
    'n', n, 'of', total, 'share', round(n::numeric / total, 4),
    'low', round(((n + 1.9208 - 1.96 * sqrt(n::numeric * (total - n) / total + 0.9604)) / (total + 3.8416))::numeric, 4),
    'high', round(((n + 1.9208 + 1.96 * sqrt(n::numeric * (total - n) / total + 0.9604)) / (total + 3.8416))::numeric, 4)) END;
