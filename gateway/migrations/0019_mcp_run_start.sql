-- Runs that were started by the agent-tool protocol with the argument `confirm` (mcp/confirm.h). `hash` is the SHA-256 of the API key's id,
-- the tool and its arguments.
CREATE TABLE mcp_run_start (
    hash  bytea PRIMARY KEY CHECK (length(hash) = 32),
    nonce bytea NOT NULL CHECK (length(nonce) = 16), -- the Idempotency-Key
    at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX mcp_run_start_at ON mcp_run_start (at);
