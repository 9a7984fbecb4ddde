-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

CREATE OR REPLACE FUNCTION paper_json(p paper, embedder text) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT content FROM paper_content(p, $2) AS content
$$;

CREATE OR REPLACE FUNCTION recommendation_json(r recommendation, interest_name text, p paper) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'recommendation_id', r.id, 'source_type', source_type(r), 'resource_id', r.arxiv_id,
        'title', p.asset -> 'title', 'abstract', p.abstract, 'url', p.asset -> 'url',
        'relevance_score', r.relevance_score, 'rank', r.rank, 'reasoning', r.reasoning,
        'suggested_experiment', r.suggested_experiment, 'interest_id', r.interest_id, 'interest_name', interest_name,
        'recommended_at', time_json(r.recommended_at), 'signals', s.signals,
        'resource', jsonb_build_object('source', paper_source(r.arxiv_id), 'doi', NULL)
                    || p.asset || jsonb_build_object('abstract', p.abstract))
    FROM recommendation_signals(r.id) s
$$;

CREATE OR REPLACE FUNCTION digest_tag(account uuid, only_interest uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT tag FROM digest_tags(account, only_interest)
$$;
