-- Limits of keys follow a repository that is renamed (service/repository_name.h).
CREATE OR REPLACE FUNCTION repository_move(old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE api_key k SET repo = new_name WHERE lower(k.repo) = lower(old_name);
END $$;
