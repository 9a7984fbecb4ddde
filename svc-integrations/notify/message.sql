-- name: message_days_keep(days)
SELECT message_days_keep(:days::int);

-- name: message_take(account, message, type, happened_at, body, repository, interest, days, waiting_max)
-- :repository and :interest: what it is about, or NULL. :days: for which messages are kept. :waiting_max: how many may wait for
-- an endpoint. Returns for how many endpoints it is.
SELECT message_take(:account, :message, :type, :happened_at, :body, :repository, :interest, :days::int, :waiting_max::int);

-- name: message_take_digest(account, message, type, happened_at, body, endpoint, days, waiting_max)
-- As message_take, for one :endpoint.
SELECT digest_take(:account, :message, :type, :happened_at, :body, :endpoint, :days::int, :waiting_max::int);
