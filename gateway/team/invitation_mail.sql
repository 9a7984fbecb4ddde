-- name: invitation_mail_get (read)
-- $1 account, $2 id. No row: it has ended, or was mailed.
SELECT i.email, i.role, i.hash, coalesce(a.name, a.email) AS account, p.email AS inviter, time_json(i.expires_at) AS expires_at
FROM invitation i
JOIN account a ON a.id = i.account_id
LEFT JOIN person p ON p.id = i.invited_by
WHERE i.account_id = $1 AND i.id = $2 AND i.mail = 'queued' AND invitation_is_open(i);

-- name: invitation_mail_note
-- $1 account, $2 id, $3 what became of the mail.
UPDATE invitation SET mail = $3 WHERE account_id = $1 AND id = $2 AND mail = 'queued';
