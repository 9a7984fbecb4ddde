-- name: invitation_queue
-- $1 account, $2 the event's data.
SELECT task_put('mail_invitation', $1, jsonb_build_object('invitation_id', $2::jsonb ->> 'invitation_id'), NULL, NULL);

-- name: invitation_ask
-- $1 address. Count a mail that it has not asked for. False: it gets none, because it has had three within a day.
SELECT email_ask($1) AS may_get;

-- name: invitation_unask
-- $1 address. The mail was not sent.
SELECT email_unask($1);

-- name: invitation_settle
-- $1 account, $2 invitation, $3 what became of its mail, for the gateway.
SELECT event_emit('events.code_host', 'invitation.mailed', $1, jsonb_build_object('invitation_id', $2::uuid, 'mail', $3::text));
