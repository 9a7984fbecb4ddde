-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

CREATE OR REPLACE FUNCTION build_new(account uuid, given jsonb, paper jsonb, shares boolean, no_cache boolean, time_limit int,
                                     limited_to text)
RETURNS uuid LANGUAGE sql AS $$
    SELECT build_new(account, given, paper, shares, no_cache, time_limit, limited_to, 10000)
$$;

CREATE OR REPLACE FUNCTION run_new(account uuid, given jsonb, build_time_limit int, limited_to text, OUT outcome text, OUT made uuid)
LANGUAGE sql AS $$
    SELECT CASE n.outcome WHEN 'template build' THEN 'template' ELSE n.outcome END, n.made
    FROM run_new(account, given, build_time_limit, limited_to, 10000) n
$$;

CREATE OR REPLACE FUNCTION work_claim(kind text, account uuid, repo text, worker text, lease interval) RETURNS SETOF work
LANGUAGE sql AS $$
    SELECT * FROM work_claim(kind, account, repo, worker, lease, 0)
$$;
