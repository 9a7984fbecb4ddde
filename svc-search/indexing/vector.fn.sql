-- What a vector is made of. Not PARALLEL SAFE: the statements that ask for it look at few rows, sooner than a worker is
-- started.
CREATE OR REPLACE FUNCTION text_digest(title text, abstract text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to(title || E'\n' || abstract, 'UTF8'))
$$;
