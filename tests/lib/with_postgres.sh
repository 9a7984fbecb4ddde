#!/bin/bash
# Run a program with a private, empty Postgres, which is removed afterwards:
#
#     with_postgres.sh PROGRAM ARGS...      DATABASE_URL is set for it
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
exec /usr/bin/python3 -m lib.servers -- bash -c 'DATABASE_URL=$TEST_DATABASE_URL exec "$@"' with_postgres "$@"
