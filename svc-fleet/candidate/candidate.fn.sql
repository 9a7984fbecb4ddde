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
    SELECT r.account_id, arxiv_id_of(r.arxiv_id), r.id, r.first_at FROM unnest(changed) r WHERE arxiv_id_of(r.arxiv_id) IS NOT NULL
    ON CONFLICT (run, arxiv_id) DO UPDATE SET gate = NULL, reason = NULL, score = NULL;
END $$;

-- Let them follow what runs report of the papers that they passed over: the first 500 of a run. One that it chose stays chosen.
CREATE OR REPLACE FUNCTION candidates_reject(details run_detail[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    DELETE FROM candidate c USING unnest(details) d WHERE c.run = d.id AND c.gate IS NOT NULL;
    INSERT INTO candidate (account_id, arxiv_id, run, first_at, gate, reason, score)
    SELECT d.account_id, arxiv_id_of(c.item ->> 'arxiv_id'), d.id, d.first_at,
           rejection_gate(c.item ->> 'gate', c.item ->> 'reason'), left(c.item ->> 'reason', 2000),
           CASE WHEN jsonb_typeof(c.item -> 'score') = 'number' THEN (c.item ->> 'score')::float8 END
    FROM unnest(details) d,
         jsonb_array_elements(coalesce(d.detail -> 'selection_rejected', '[]')) WITH ORDINALITY AS c (item, place)
    WHERE c.place <= 500 AND arxiv_id_of(c.item ->> 'arxiv_id') IS NOT NULL
    ORDER BY d.id, c.place
    ON CONFLICT DO NOTHING;
END $$;
