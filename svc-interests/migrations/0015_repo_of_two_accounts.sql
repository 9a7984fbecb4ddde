-- The agents of other accounts that have a key in the secrets of a repository.
CREATE FUNCTION others_on_repo(p provisioning) RETURNS SETOF provisioning LANGUAGE sql STABLE AS $$
    SELECT o.* FROM provisioning o
    WHERE lower(o.repo) = lower(p.repo) AND o.account_id <> p.account_id AND o.revoked_at IS NULL AND o.key_expires_at > now()
$$;
