-- Links to a repository that is renamed are looked for by what they begin with (provision/repository_name.fn.sql).
CREATE INDEX run_outcome_link ON run_outcome (left(lower(url), 256) COLLATE "C");
CREATE INDEX interest_repo_link ON interest (left(lower(source_repo_url), 256) COLLATE "C") WHERE source_repo_url IS NOT NULL;
