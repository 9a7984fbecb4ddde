-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

-- It does not know by the link of which invitation a person comes.
CREATE OR REPLACE FUNCTION identity_find(wanted_issuer text, wanted_subject text, address text, new_name text, may_be_new boolean,
                                         join_account uuid, join_role text, OUT outcome text, OUT person uuid)
LANGUAGE sql AS $$
    SELECT e.outcome, e.person FROM identity_enter(wanted_issuer, wanted_subject, address, new_name, may_be_new, join_account, join_role, NULL) e
$$;
