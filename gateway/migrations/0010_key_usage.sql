-- What keys were used for (usage/key_usage.h), of the last 90 days.
--
--   family  the scope that the operations need, or `mcp`
--   status  of HTTP
CREATE TABLE key_usage (
    key_id   uuid NOT NULL REFERENCES api_key ON DELETE CASCADE,
    day      date NOT NULL,
    family   text NOT NULL,
    status   smallint NOT NULL,
    requests bigint NOT NULL,
    PRIMARY KEY (key_id, day, family, status)
);
CREATE INDEX key_usage_day ON key_usage (day);
