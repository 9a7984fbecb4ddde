#!/bin/bash
# Run a program with a Postgres of its own, empty, gone afterwards:
#
#     with_postgres.sh PROGRAM ARGS...      finds it in DATABASE_URL
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
exec /usr/bin/python3 -m lib.servers -- bash -c 'DATABASE_URL=$TEST_DATABASE_URL exec "$@"' with_postgres "$@"
