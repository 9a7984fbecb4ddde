-- name: invitation_queue(account, event_data)
SELECT task_put('mail_invitation', :account,
                jsonb_build_object('invitation_id', :event_data::jsonb ->> 'invitation_id'), NULL, NULL);

-- name: invitation_ask(address)
-- Count a mail that the address has not asked for. False: it gets none, because it has had three within a day.
SELECT email_ask(:address) AS may_get;

-- name: invitation_unask(address)
-- The mail was not sent.
SELECT email_unask(:address);

-- name: invitation_settle(account, invitation, outcome)
-- Tell the gateway what became of the mail.
SELECT event_emit('events.code_host', 'invitation.mailed', :account,
                  jsonb_build_object('invitation_id', :invitation::uuid, 'mail', :outcome::text));
