-- What runs cost, by their attempts (budget/spend.fn.sql), and the prices by which it is estimated.
ALTER TABLE run
    ADD COLUMN attempts    jsonb,
    ADD COLUMN spend_usd   numeric,
    ADD COLUMN spend_basis text CHECK (spend_basis IN ('reported', 'estimated')),
    ADD COLUMN price_date  date;

-- USD for a million tokens.
--
--   model      a name, or the beginning of names with `*` behind it
--   until_day  the first day on which it does not hold any more
--   checked    when somebody compared it with the provider's page
CREATE TABLE price (
    provider    text NOT NULL,
    model       text NOT NULL,
    from_day    date NOT NULL,
    until_day   date,
    input       numeric NOT NULL,
    cache_write numeric,
    cache_read  numeric,
    output      numeric NOT NULL,
    checked     date NOT NULL,
    source      text NOT NULL,
    PRIMARY KEY (provider, model, from_day)
);

-- Which list `price` has.
CREATE TABLE price_list (
    is_only   boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    digest    text NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now()
);
