"""deploy/schema shows today's tables."""

import os
import subprocess
import sys

from lib.system.servers import ROOT

FOLDER = ROOT / "deploy" / "schema"


def test_the_tables_are_those_of_deploy_schema(cluster, tmp_path):
    env = {**os.environ, "DATABASE_URL": cluster.postgres.url()}
    subprocess.run([sys.executable, "-B", ROOT / "deploy" / "dev.d" / "schema.py", tmp_path], env=env, check=True)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in FOLDER.glob("*.sql")}
    changed = sorted(name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name))
    assert changed == [], "deploy/dev up && deploy/dev schema writes them"
