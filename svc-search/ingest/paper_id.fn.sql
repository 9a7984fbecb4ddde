-- What the id of a paper says (paper_id.h), beside paper_source().

-- Null: its source has no DOIs of its own.
CREATE OR REPLACE FUNCTION paper_doi(arxiv_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN nullif(split_part(arxiv_id, ':', 2), '');

CREATE OR REPLACE FUNCTION paper_url(arxiv_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce('https://doi.org/' || paper_doi(arxiv_id), 'https://arxiv.org/abs/' || arxiv_id);
