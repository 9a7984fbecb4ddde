-- What happens is told outside: endpoints of accounts, messages, and their deliveries (notify/notify.h).

-- Where messages go to.
--
--   kind                  the form in which messages are sent
--   url                   of a webhook
--   secret                of a webhook: the signing key; sealed for this row (notify/endpoint_secret.h)
--   secret_hint           its last characters, as its owner has seen them
--   old_secret            the secret before, which also signs until old_secret_expires_at
--   events                types; `run.*`, those that begin with `run.`; `*`, all but `digest.ready`
--   repos, interest_ids   only messages about one of them; null: all
--   status                active; paused, by its owner; disabled, because deliveries failed: disabled_reason
--   not_before            no attempt begins before: it fails, or catches up with what waits
--   failing_since         of the first of the failed attempts in a row, whose number is consecutive_failures; null: the last succeeded
--   is_quick              the last attempt succeeded, and soon
--   catch_up_to           deliveries up to this one go out with pauses: they have waited for an endpoint that failed
--   waiting               rows of delivery_queue
--   dropped               deliveries that were dropped because too many waited
CREATE TABLE endpoint (
    id                    uuid PRIMARY KEY,
    account_id            uuid NOT NULL,
    kind                  text NOT NULL CHECK (kind IN ('webhook', 'slack', 'email')),
    name                  text NOT NULL,
    url                   text,
    secret                bytea,
    secret_hint           text,
    old_secret            bytea,
    old_secret_expires_at timestamptz,
    events                text[] NOT NULL CHECK (cardinality(events) > 0),
    repos                 text[],
    interest_ids          uuid[],
    status                text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'disabled', 'unconfirmed')),
    disabled_reason       text CHECK ((disabled_reason IS NOT NULL) = (status = 'disabled')),
    created_at            timestamptz NOT NULL DEFAULT now(),
    updated_at            timestamptz NOT NULL DEFAULT now(),
    not_before            timestamptz NOT NULL DEFAULT '-infinity',
    failing_since         timestamptz,
    consecutive_failures  int NOT NULL DEFAULT 0,
    last_success_at       timestamptz,
    is_quick              boolean NOT NULL DEFAULT false,
    catch_up_to           uuid,
    waiting               int NOT NULL DEFAULT 0,
    dropped               bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX endpoint_of_account ON endpoint (account_id, id);
CREATE TRIGGER account_required BEFORE INSERT ON endpoint FOR EACH ROW EXECUTE FUNCTION account_required();

-- The two lanes of an endpoint: first attempts in the order of their messages, and attempts after a failure. One process at a time
-- works in a lane, and makes one attempt after the other.
--
--   due_at      when a process looks into it; null: nothing waits. While it is claimed, when the claim ends
--   claim       rises with each claim: what a process does whose claim has ended matches no row
--   is_quick    as of the endpoint
CREATE TABLE endpoint_lane (
    endpoint_id uuid NOT NULL REFERENCES endpoint ON DELETE CASCADE,
    is_retry    boolean NOT NULL,
    due_at      timestamptz,
    is_claimed  boolean NOT NULL DEFAULT false,
    claim       bigint NOT NULL DEFAULT 0,
    is_quick    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (endpoint_id, is_retry)
) WITH (fillfactor = 50);

CREATE INDEX endpoint_lane_due ON endpoint_lane (is_quick, due_at) WHERE due_at IS NOT NULL;

-- One event of one account, with the body that is sent. It is in the partition of the day (UTC) on which it happened, so that the
-- same event makes one message; its deliveries and their attempts are in the partitions of the same day, and all three are dropped
-- together (message_days_keep()).
--
--   id    of the event
--   at    when it happened
CREATE TABLE message (
    day        date NOT NULL,
    id         uuid NOT NULL,
    account_id uuid NOT NULL,
    type       text NOT NULL,
    at         timestamptz NOT NULL,
    body       text NOT NULL CHECK (octet_length(body) <= 20480),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (day, id)
) PARTITION BY RANGE (day);

CREATE INDEX message_of_account ON message (account_id);

-- A message for an endpoint.
--
--   status       pending while it is in delivery_queue
--   attempts     in all rounds
--   last_status  of the last answer; null: there was none
--   last_error   of the last attempt; null: it succeeded
CREATE TABLE message_delivery (
    day          date NOT NULL,
    id           uuid NOT NULL DEFAULT uuid_v7(),
    account_id   uuid NOT NULL,
    endpoint_id  uuid NOT NULL,
    message_id   uuid NOT NULL,
    type         text NOT NULL,
    status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'dropped')),
    attempts     int NOT NULL DEFAULT 0,
    last_status  int,
    last_error   text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    delivered_at timestamptz,
    PRIMARY KEY (day, id)
) PARTITION BY RANGE (day);

CREATE INDEX message_delivery_newest ON message_delivery (account_id, endpoint_id, id DESC);

-- One request. `response`: the beginning of the answer, as text.
CREATE TABLE message_attempt (
    day         date NOT NULL,
    delivery_id uuid NOT NULL,
    attempt     int NOT NULL,
    at          timestamptz NOT NULL,
    status      int,
    duration_ms int NOT NULL,
    error       text,
    response    text,
    PRIMARY KEY (day, delivery_id, attempt)
) PARTITION BY RANGE (day);

-- The deliveries that wait.
--
--   tries     failed attempts of this round
--   retry_at  not before; null: the first attempt, which is made in the order of delivery_id
CREATE TABLE delivery_queue (
    delivery_id uuid PRIMARY KEY,
    endpoint_id uuid NOT NULL REFERENCES endpoint ON DELETE CASCADE,
    day         date NOT NULL,
    message_id  uuid NOT NULL,
    tries       int NOT NULL DEFAULT 0,
    retry_at    timestamptz
);

CREATE INDEX delivery_queue_first ON delivery_queue (endpoint_id, delivery_id) WHERE retry_at IS NULL;
CREATE INDEX delivery_queue_retry ON delivery_queue (endpoint_id, retry_at, delivery_id) WHERE retry_at IS NOT NULL;
CREATE INDEX delivery_queue_day ON delivery_queue (day);
