-- What accounts were told of pull requests and issues, which is told once, however often their rows are made anew
-- (run/message.fn.sql). It stays as long as the account.
--
--   fact  the id of the message, which says what happened
CREATE TABLE deliverable_told (
    account_id uuid NOT NULL,
    fact       uuid NOT NULL,
    PRIMARY KEY (account_id, fact)
);

INSERT INTO deliverable_told (account_id, fact)
SELECT d.account_id, md5(concat_ws(E'\n', d.kind || '.' || what, d.account_id, d.url,
                                   CASE what WHEN 'closed' THEN extract(epoch FROM d.closed_at) END))::uuid
FROM deliverable d CROSS JOIN LATERAL (SELECT 'opened' UNION SELECT d.stage WHERE d.stage <> 'open') AS told (what)
WHERE d.kind <> 'other'
ON CONFLICT DO NOTHING;
