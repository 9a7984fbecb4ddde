"""What tests change and read in the tables of a service where neither the API nor a metric can: a file a service. `db` is a connection
with the service's schema (Postgres.connect())."""
