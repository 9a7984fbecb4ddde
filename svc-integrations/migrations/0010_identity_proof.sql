-- original-sha256: bf4d8e5b3eb580facdc04964f7d69c819a51321deb164dc16bf45d95ade71883
--
-- A link claims an id at another platform and, where it is given, an email. Each claim is verified as long as the account's active
-- connection to the platform names it; then no other account has it. Claims that are not verified are seen by their account alone,
-- any number of accounts may make the same, and they give way when another account's is verified.

-- The provider says that external_email is an address of the user. Not known of connections made before.
ALTER TABLE connection ADD COLUMN external_email_verified boolean NOT NULL DEFAULT false;

ALTER TABLE identity_link ADD COLUMN id_verified boolean NOT NULL DEFAULT false,
                          ADD COLUMN email_verified boolean NOT NULL DEFAULT false;

UPDATE identity_link l SET id_verified = true
FROM connection c
WHERE c.account_id = l.account_id AND c.provider = l.source AND c.external_id = l.external_id AND c.status = 'active';

DROP INDEX identity_link_id;
DROP INDEX identity_link_email;
CREATE UNIQUE INDEX identity_link_id ON identity_link (source, external_id) WHERE id_verified;
CREATE UNIQUE INDEX identity_link_email ON identity_link (source, lower(external_email)) WHERE email_verified;
CREATE UNIQUE INDEX identity_link_own_id ON identity_link (account_id, source, external_id);
CREATE UNIQUE INDEX identity_link_own_email ON identity_link (account_id, source, lower(external_email));
CREATE INDEX identity_link_claimed_id ON identity_link (source, external_id) WHERE NOT id_verified;
CREATE INDEX identity_link_claimed_email ON identity_link (source, lower(external_email)) WHERE NOT email_verified;

-- Whoever verifies claims waits for the others by a lock on this empty table, until they commit: two accounts that prove one
-- identity at the same time, and one that claims what another is proving, see each other. A transaction locks it after its account.
CREATE TABLE identity_order ();

CREATE INDEX connection_of_email ON connection (provider, lower(external_email)) WHERE external_email_verified;
