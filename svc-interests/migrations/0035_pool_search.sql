-- The last search of an interest's candidates, so that the next one looks only for papers that have changed since (pool/pool.h).
--
--   question  digest of what was searched with
--   cursor    names the state of the index that was searched, to svc-search only
--   whole_on  day (UTC) on which all papers were last searched
CREATE TABLE pool_search (
    interest_id  uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    pool_version integer NOT NULL,
    question     text NOT NULL,
    cursor       text NOT NULL,
    whole_on     date NOT NULL
);
