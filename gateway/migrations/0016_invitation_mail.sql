-- Whether an invitation was mailed: see the description of the API, Invitation.
ALTER TABLE invitation ADD COLUMN mail text NOT NULL DEFAULT 'none' CHECK (mail IN ('none', 'queued', 'sent', 'failed', 'limited'));

-- The invitations of an account that were made within a day.
CREATE INDEX invitation_made ON invitation (account_id, created_at);
