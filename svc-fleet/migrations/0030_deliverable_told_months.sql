-- What accounts were told of pull requests and issues goes by whole months (run/message.fn.sql). What is there was told today.
--
--   told_on  the day (UTC)
ALTER TABLE deliverable_told RENAME TO deliverable_told_ever;
ALTER INDEX deliverable_told_pkey RENAME TO deliverable_told_ever_pkey;
CREATE TABLE deliverable_told (
    account_id uuid NOT NULL,
    fact       uuid NOT NULL,
    told_on    date NOT NULL,
    PRIMARY KEY (account_id, fact, told_on)
) PARTITION BY RANGE (told_on);

SELECT partition_add(ARRAY['deliverable_told'], to_char(month, 'YYYYMM'), month::date::text, (month + interval '1 month')::date::text)
FROM date_trunc('month', now() AT TIME ZONE 'UTC') AS month;
INSERT INTO deliverable_told SELECT account_id, fact, (now() AT TIME ZONE 'UTC')::date FROM deliverable_told_ever;
DROP TABLE deliverable_told_ever;
