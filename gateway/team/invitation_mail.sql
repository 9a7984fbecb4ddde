-- name: invitation_mail_get(account, invitation) (read)
-- No row: it has ended, or was mailed.
SELECT i.email, i.role, i.hash, coalesce(a.name, a.email) AS account, p.email AS inviter, time_json(i.expires_at) AS expires_at
FROM invitation i
JOIN account a ON a.id = i.account_id
LEFT JOIN person p ON p.id = i.invited_by
WHERE i.account_id = :account AND i.id = :invitation AND i.mail = 'queued' AND invitation_is_open(i);

-- name: invitation_mail_note(account, invitation, mail)
-- :mail is what became of it.
UPDATE invitation SET mail = :mail
WHERE account_id = :account AND id = :invitation AND mail = 'queued';
