-- A random sample of the corpus: what preference models tell the liked papers from (pool/background.h). One row, once it was
-- drawn.
--
--   documents    papers in the index when it was drawn
--   frequencies  in how many papers of a larger sample each term occurs, as preference/frequency.h writes it
--   arxiv_ids    papers of the sample, in its order; they are rows of `paper`
CREATE TABLE background (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    documents   integer NOT NULL CHECK (documents > 0),
    frequencies bytea NOT NULL,
    arxiv_ids   text[] NOT NULL,
    drawn_at    timestamptz NOT NULL DEFAULT now()
);

-- Whether to draw it for an index of this size: there is none, or the index has become a tenth larger or smaller.
CREATE FUNCTION background_is_due(documents integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT $1 > 0 AND NOT EXISTS (SELECT FROM background b WHERE abs(b.documents - $1) <= b.documents / 10)
$$;
