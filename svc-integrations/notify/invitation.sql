-- name: invitation_queue
-- $1 account, $2 the event's data.
SELECT task_put('mail_invitation', $1, jsonb_build_object('invitation_id', $2::jsonb ->> 'invitation_id'), NULL, NULL);

-- name: invitation_address (read)
-- $1 address. Whether it may get a mail that it has not asked for.
SELECT email_may_ask($1) AS may_get;

-- name: invitation_settle
-- $1 account, $2 invitation, $3 what became of its mail, $4 address that was sent it; null: it was not.
SELECT invitation_mail_settle($1, $2, $3, $4);
