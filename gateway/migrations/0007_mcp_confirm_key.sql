-- The key that signs questions of the agent-tool protocol (mcp/confirm.h). One row.
CREATE TABLE mcp_confirm_key (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    key     bytea NOT NULL CHECK (length(key) = 32)
);
