-- Who does a work alone at present: the relay, the reconciler, the consumer of a stream (task/lease.h). No lock or
-- transaction stays open meanwhile, so a process that vanishes or is stopped blocks the others until `until` only.
--
--   name    `outbox`, `reconcile`, `events.experiments`
--   owner   the process that holds it; '': none did yet
--   until   when others may take it
--   fence   rises whenever the owner changes: what a former owner sends late has a lower one and is refused
CREATE TABLE lease (
    name  text PRIMARY KEY CHECK (octet_length(name) <= 200),
    owner text NOT NULL DEFAULT '',
    until timestamptz NOT NULL DEFAULT 'epoch',
    fence bigint NOT NULL DEFAULT 0
);
