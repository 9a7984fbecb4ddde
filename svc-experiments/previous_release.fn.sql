-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

CREATE OR REPLACE FUNCTION experiment_new(account uuid, body jsonb, request_id text) RETURNS experiment LANGUAGE sql AS $$
    SELECT experiment_new(account, body, NULL, request_id)
$$;

CREATE OR REPLACE FUNCTION implementation_pull_told(in_repo text, number int, branch text, state text, at timestamptz) RETURNS void
LANGUAGE sql AS $$
    SELECT implementation_pull_update(in_repo, number, branch, state, at, false)
$$;

CREATE OR REPLACE FUNCTION implementation_settle(experiment uuid, its_attempt int, conclusion text, pull jsonb) RETURNS void
LANGUAGE sql AS $$
    SELECT implementation_reconcile(experiment, its_attempt, conclusion, pull)
$$;

CREATE OR REPLACE FUNCTION experiment_page(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, is_actionable boolean, only_repo text, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json) LANGUAGE sql AS $$
    SELECT p.total, p.page FROM experiment_page(account, in_project, with_status, with_source, with_ticket, came_via, NULL, is_actionable,
                                                only_repo, page_limit, page_offset) p
$$;

CREATE OR REPLACE FUNCTION experiment_page_of_key(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                       came_via text, is_actionable boolean, only_repo text, only_project uuid,
                                       page_limit bigint, page_offset bigint, OUT total bigint, OUT page json) LANGUAGE sql AS $$
    SELECT p.total, p.page FROM experiment_page_of_key(account, in_project, with_status, with_source, with_ticket, came_via, NULL,
                                                       is_actionable, only_repo, only_project, page_limit, page_offset) p
$$;

CREATE OR REPLACE FUNCTION experiment_outline(account uuid, in_project uuid, with_status text, with_source text, with_ticket text, came_via text,
                                   is_limited boolean, only_repo text, only_project uuid, most int,
                                   OUT ids json, OUT names json, OUT total bigint) LANGUAGE sql AS $$
    SELECT o.ids, o.names, o.total FROM experiment_outline(account, in_project, with_status, with_source, with_ticket, came_via, NULL,
                                                           is_limited, only_repo, only_project, most) o
$$;
