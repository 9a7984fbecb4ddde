-- The papers that runs considered: the one that a run was about, and those that it passed over.

-- The gate at which a run passed a paper over: as it says, else by the words of its reason, the first that fits.
CREATE OR REPLACE FUNCTION rejection_gate(said text, reason text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN said IN ('relevance', 'duplicate', 'license', 'container', 'feasibility', 'risk', 'scope', 'budget', 'other') THEN said
    WHEN reason ~* '\m(already|duplicate|proposed)' THEN 'duplicate'
    WHEN reason ~* '\m(licen[cs]e|a?gpl|proprietary)' THEN 'license'
    WHEN reason ~* '\m(container|docker|image)' THEN 'container'
    WHEN reason ~* '\m(budget|cost|expensive|tokens?)\M' THEN 'budget'
    WHEN reason ~* '\m(risk|unsafe|security|break(s|ing)?\M)' THEN 'risk'
    WHEN reason ~* '\m(scope|broad|narrow|large|big)' THEN 'scope'
    WHEN reason ~* '\m(feasib|infeasib|hardware|gpus?\M|data ?sets?\M|no code|weights)' THEN 'feasibility'
    WHEN reason ~* '(relevan|\m(un)?related|\mmatch|\mfits?\M|off.topic)' THEN 'relevance'
    ELSE 'other' END;

-- Let the candidates follow runs that are about another paper now.
CREATE OR REPLACE FUNCTION candidates_choose(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    changed run[] := ARRAY(SELECT c.became FROM unnest(changes) c
                           WHERE (c.was).arxiv_id IS DISTINCT FROM (c.became).arxiv_id ORDER BY (c.became).id);
BEGIN
    IF cardinality(changed) = 0 THEN
        RETURN;
    END IF;
    DELETE FROM candidate c USING unnest(changed) r WHERE c.run = r.id AND c.gate IS NULL;
    INSERT INTO candidate AS known (account_id, arxiv_id, run, first_at)
    SELECT r.account_id, p.id, r.id, r.first_at
    FROM unnest(changed) r, LATERAL (SELECT arxiv_id_of(r.arxiv_id) AS id OFFSET 0) p
    WHERE p.id IS NOT NULL
    ON CONFLICT (run, arxiv_id) DO UPDATE SET gate = NULL, reason = NULL, score = NULL;
END $$;

-- What the details of a run say of the papers that it passed over: the first 500.
CREATE OR REPLACE FUNCTION candidates_passed_over(d run_detail) RETURNS TABLE (
    account_id uuid, arxiv_id text, run uuid, first_at timestamptz, gate text, reason text, score double precision, place bigint)
LANGUAGE sql IMMUTABLE AS $$
    SELECT d.account_id, p.id, d.id, d.first_at,
           rejection_gate(c.item ->> 'gate', c.item ->> 'reason'), left(c.item ->> 'reason', 2000),
           CASE WHEN jsonb_typeof(c.item -> 'score') = 'number' AND abs((c.item ->> 'score')::numeric) < 1e300
                THEN (c.item ->> 'score')::float8 END, c.place
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(d.detail -> 'selection_rejected') = 'array' THEN d.detail -> 'selection_rejected'
                                   ELSE '[]' END) WITH ORDINALITY AS c (item, place),
         LATERAL (SELECT arxiv_id_of(c.item ->> 'arxiv_id') AS id OFFSET 0) p
    WHERE c.place <= 500 AND p.id IS NOT NULL
$$;

-- Let them follow what runs report of the papers that they passed over. One that it chose stays chosen.
CREATE OR REPLACE FUNCTION candidates_reject(details run_detail[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    DELETE FROM candidate c USING unnest(details) d WHERE c.run = d.id AND c.gate IS NOT NULL;
    INSERT INTO candidate (account_id, arxiv_id, run, first_at, gate, reason, score)
    SELECT c.account_id, c.arxiv_id, c.run, c.first_at, c.gate, c.reason, c.score
    FROM unnest(details) d, candidates_passed_over(d) c
    ORDER BY c.run, c.place
    ON CONFLICT DO NOTHING;
END $$;

-- ---- Runs that were there before this table ----

-- The candidates of the next runs, from the newest to the oldest.
CREATE OR REPLACE FUNCTION fill_candidates(behind text, most int, OUT reached text, OUT seen int) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    found run[] := ARRAY(SELECT r FROM run r WHERE r.id < behind::uuid ORDER BY r.id DESC LIMIT most);
BEGIN
    reached := found[cardinality(found)].id;
    seen := cardinality(found);
    PERFORM account_share(f.account_id) FROM (SELECT DISTINCT account_id FROM unnest(found) ORDER BY 1) f;
    PERFORM FROM unnest(found) f JOIN run r ON r.id = f.id AND r.first_at = f.first_at
    ORDER BY r.account_id, r.repo_key, r.run_id #>> '{}' FOR SHARE OF r;
    INSERT INTO candidate (account_id, arxiv_id, run, first_at)
    SELECT r.account_id, p.id, r.id, r.first_at
    FROM unnest(found) f JOIN run r ON r.id = f.id AND r.first_at = f.first_at,
         LATERAL (SELECT arxiv_id_of(r.arxiv_id) AS id OFFSET 0) p
    WHERE p.id IS NOT NULL
    ON CONFLICT DO NOTHING;
    INSERT INTO candidate (account_id, arxiv_id, run, first_at, gate, reason, score)
    SELECT c.account_id, c.arxiv_id, c.run, c.first_at, c.gate, c.reason, c.score
    FROM unnest(found) f JOIN run_detail d ON d.id = f.id AND d.first_at = f.first_at, candidates_passed_over(d) c
    WHERE EXISTS (SELECT FROM run r WHERE r.id = f.id AND r.first_at = f.first_at)
    ORDER BY c.run, c.place
    ON CONFLICT DO NOTHING;
END $$;

-- The papers that runs of the account were about which have no candidates yet: of these papers, and of these runs (null: all).
CREATE OR REPLACE FUNCTION candidates_to_choose(account uuid, papers text[], runs uuid[]) RETURNS SETOF candidate LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    unfilled uuid := fill_cursor('candidates');
BEGIN
    IF unfilled IS NOT NULL THEN
        RETURN QUERY
            SELECT r.account_id, p.id, r.id, r.first_at, NULL::text, NULL::text, NULL::float8
            FROM run r, LATERAL (SELECT arxiv_id_of(r.arxiv_id) AS id OFFSET 0) p
            WHERE r.account_id = account AND r.id < unfilled AND r.arxiv_id IS NOT NULL AND (runs IS NULL OR r.id = ANY (runs))
              AND p.id IS NOT NULL AND (papers IS NULL OR p.id = ANY (papers))
              AND NOT EXISTS (SELECT FROM candidate c WHERE c.run = r.id AND c.arxiv_id = p.id);
    END IF;
END $$;

-- The same of the papers that they passed over, of runs of a time.
CREATE OR REPLACE FUNCTION candidates_to_reject(account uuid, papers text[], runs uuid[], since timestamptz, until timestamptz)
RETURNS SETOF candidate LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    unfilled uuid := fill_cursor('candidates');
BEGIN
    IF unfilled IS NOT NULL THEN
        RETURN QUERY
            SELECT DISTINCT ON (c.run, c.arxiv_id) c.account_id, c.arxiv_id, c.run, c.first_at, c.gate, c.reason, c.score
            FROM run r JOIN run_detail d ON d.id = r.id AND d.first_at = r.first_at, candidates_passed_over(d) c
            WHERE r.account_id = account AND r.id < unfilled AND r.at >= since AND r.at < until AND (runs IS NULL OR r.id = ANY (runs))
              AND (papers IS NULL OR c.arxiv_id = ANY (papers)) AND c.arxiv_id IS DISTINCT FROM arxiv_id_of(r.arxiv_id)
              AND NOT EXISTS (SELECT FROM candidate x WHERE x.run = c.run AND x.arxiv_id = c.arxiv_id)
            ORDER BY c.run, c.arxiv_id, c.place;
    END IF;
END $$;
