-- What models are fitted to.

-- The signals of an interest about papers that are stored, at most so many: those of the papers of which something was said last. `paper_at`:
-- when that was; null: not known, and long ago.
CREATE OR REPLACE FUNCTION signals_newest(of_interest uuid, most int) RETURNS TABLE (arxiv_id text, signal text, paper_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT s.arxiv_id, s.signal, max(s.at) OVER (PARTITION BY s.arxiv_id) AS paper_at
    FROM signal s WHERE s.interest_id = of_interest AND EXISTS (SELECT FROM paper p WHERE p.arxiv_id = s.arxiv_id)
    ORDER BY paper_at DESC NULLS LAST, s.arxiv_id DESC, s.signal LIMIT most
$$;
