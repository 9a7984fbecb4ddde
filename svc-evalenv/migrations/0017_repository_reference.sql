-- What names a repository that is renamed, or has a link to it, is looked for by what it begins with (queue/repository_name.fn.sql).
CREATE INDEX work_repo ON work (left(lower(repo), 256) COLLATE "C") WHERE repo IS NOT NULL;
CREATE INDEX build_repo ON build (left(lower(repo), 256) COLLATE "C") WHERE repo IS NOT NULL;
CREATE INDEX template_repo ON template (lower(repo)) WHERE repo IS NOT NULL;
