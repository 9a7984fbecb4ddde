-- What an account wants to read about. A pool is of the interest's name and context, what counts as recommended already
-- of the context alone: a new name builds the pool anew and brings no paper back.
CREATE TABLE interest (
    id                     uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id             uuid NOT NULL,
    name                   text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    context                text NOT NULL CHECK (char_length(context) BETWEEN 1 AND 50000),
    context_version        integer NOT NULL DEFAULT 1,
    pool_version           integer NOT NULL DEFAULT 1,
    daily_count            integer NOT NULL DEFAULT 3 CHECK (daily_count BETWEEN 1 AND 50),
    is_active              boolean NOT NULL DEFAULT true,
    model_provider         text,
    source_repo_url        text,
    project_id             uuid,
    pool_status            text NOT NULL DEFAULT 'building'
                           CHECK (pool_status IN ('building', 'ready', 'stale', 'failed')),
    pool_size              integer NOT NULL DEFAULT 0,
    experiment_history_id  uuid NOT NULL UNIQUE DEFAULT uuid_v7(),
    last_recommendation_at timestamptz,
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now()
);

COMMENT ON COLUMN interest.context_version IS 'rises when the context changes';
COMMENT ON COLUMN interest.pool_version IS 'rises when name or context change';

CREATE UNIQUE INDEX interest_name ON interest (account_id, lower(name));
CREATE INDEX interest_newest ON interest (account_id, created_at DESC, id DESC);

-- Neither an interest of a deleted account, which the daily run would go on to serve, nor a task.
CREATE TRIGGER account_required BEFORE INSERT ON interest FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER account_required BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION account_required();

-- An interest as the API shows it.
CREATE FUNCTION interest_json(i interest) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', i.id, 'name', i.name, 'context', i.context, 'daily_count', i.daily_count, 'is_active', i.is_active,
        'model_provider', i.model_provider, 'source_repo_url', i.source_repo_url, 'project_id', i.project_id,
        'pool_status', i.pool_status, 'pool_size', i.pool_size, 'experiment_history_id', i.experiment_history_id,
        'last_recommendation_at', time_json(i.last_recommendation_at),
        'created_at', time_json(i.created_at), 'updated_at', time_json(i.updated_at))
$$;
