""".dockerignore lets everything into the image's build that the build reads, which needs no container to be seen."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def allowed():
    """The paths that .dockerignore excepts from `*`."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    return [line.removeprefix("!").rstrip("/") for line in lines if line.startswith("!") and not line.startswith("!.git/")]


def test_what_is_copied_is_let_in():
    """What both Dockerfiles COPY from the sources by name."""
    wanted = {word for name in ("Dockerfile", "servers.Dockerfile") for line in (ROOT / "deploy" / name).read_text().splitlines()
              if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1] if word != "."}
    assert {path for path in wanted if not any(path == one or path.startswith(f"{one}/") for one in allowed())} == set()
    assert {"deploy/archive-log", "deploy/backup", "deploy/restore", "deploy/init.sql"} <= wanted


def test_the_build_finds_its_sources(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("node_modules", "__pycache__")
    for pattern in allowed():
        for path in ROOT.glob(pattern):
            target = source / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(path, target, ignore=ignored) if path.is_dir() else shutil.copy(path, target)
    command = ["meson", "setup", "--buildtype=release", "-Dtests=disabled", tmp_path / "build", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
