-- Tell the gateway what became of the mail of an invitation. `address` has got it; null: nobody has.
CREATE OR REPLACE FUNCTION invitation_mail_settle(account uuid, invitation uuid, mail text, address text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF address IS NOT NULL THEN
        PERFORM email_ask(address);
    END IF;
    PERFORM event_emit('events.code_host', 'invitation.mailed', account, jsonb_build_object('invitation_id', invitation, 'mail', mail));
END $$;
