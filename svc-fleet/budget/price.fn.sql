-- The prices of models, and what tokens cost by them.

-- Replace the list by another one, unless the digest says that it is the same. Whether it was replaced.
CREATE OR REPLACE FUNCTION price_list_store(new_digest text, prices jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO price_list AS l (digest) VALUES (new_digest)
    ON CONFLICT (is_only) DO UPDATE SET digest = excluded.digest, stored_at = now() WHERE l.digest <> excluded.digest;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM price;
    INSERT INTO price (provider, model, from_day, until_day, input, cache_write, cache_read, output, checked, source)
    SELECT p.provider, p.model, p."from", p.until, u.input, u.cache_write, u.cache_read, u.output, p.checked, p.source
    FROM jsonb_to_recordset(prices) AS p (provider text, model text, "from" date, until date, usd_per_million jsonb, checked date,
                                          source text),
         jsonb_to_record(p.usd_per_million) AS u (input numeric, cache_write numeric, cache_read numeric, output numeric);
    RETURN true;
END $$;

-- The list as the API shows it; `stale`: nobody has compared the price with the provider's page for 90 days.
CREATE OR REPLACE FUNCTION price_list_json() RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'stored_at', (SELECT time_json(stored_at) FROM price_list),
        'prices', (SELECT coalesce(jsonb_agg(jsonb_build_object(
            'provider', p.provider, 'model', p.model, 'from', p.from_day, 'until', p.until_day,
            'usd_per_million', jsonb_strip_nulls(jsonb_build_object(
                'input', p.input, 'cache_write', p.cache_write, 'cache_read', p.cache_read, 'output', p.output)),
            'checked', p.checked, 'source', p.source, 'stale', p.checked < (now() AT TIME ZONE 'UTC')::date - 90)
            ORDER BY p.provider, p.model, p.from_day), '[]') FROM price p))
$$;

-- The price of a model on a day: of its own name, or of the longest beginning of it. Null: there is none, and no other's is taken.
CREATE OR REPLACE FUNCTION price_find(of_provider text, of_model text, day date) RETURNS price LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT p FROM price p
    WHERE p.provider = of_provider AND day >= p.from_day AND (p.until_day IS NULL OR day < p.until_day)
      AND (p.model = of_model OR right(p.model, 1) = '*' AND starts_with(of_model, left(p.model, -1)))
    ORDER BY p.model = of_model DESC, length(p.model) DESC LIMIT 1);
END $$;

-- What the tokens of a report cost. `input_tokens` has those that were written to the provider's cache and not those that were read
-- from it; tokens of reasoning are output. A kind without a price of its own costs what input costs.
CREATE OR REPLACE FUNCTION price_usd(p price, report jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RETURN (
    SELECT trim_scale(round((
        (t.input - t.written) * p.input + t.written * coalesce(p.cache_write, p.input)
        + t.cached * coalesce(p.cache_read, p.input) + t.output * p.output) / 1000000, 6))
    FROM (SELECT i, least(coalesce((report ->> 'cache_write_input_tokens')::numeric, 0), i),
                 coalesce((report ->> 'cache_read_input_tokens')::numeric, 0), (report ->> 'output_tokens')::numeric
          FROM CAST(report ->> 'input_tokens' AS numeric) AS i) AS t (input, written, cached, output));
END $$;
