-- Limits of keys follow a repository that is renamed (service/repository_name.h).
CREATE INDEX api_key_repo ON api_key (lower(repo)) WHERE repo IS NOT NULL;
