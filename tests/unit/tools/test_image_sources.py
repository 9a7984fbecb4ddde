"""What needs no container to be seen of the image: .dockerignore lets everything in that the build reads, and OpenSSL finds its
authorities."""

import re
import shutil
import ssl
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


def test_openssl_finds_the_authorities_of_the_image(tmp_path):
    """Where OpenSSL itself looks, as libpq lets it with `sslrootcert=system`."""
    build = ROOT / "deploy" / "image" / "build"
    subprocess.run([build, "configure", tmp_path], check=True)
    asked = tmp_path / "root" / ssl.get_default_verify_paths().openssl_cafile.lstrip("/")
    assert asked.is_symlink()
    assert re.search(rf'^AUTHORITIES={asked.readlink()}$.*^\tcopy .*"\$AUTHORITIES"$', build.read_text(), re.MULTILINE | re.DOTALL)


def test_pages_check_the_certificate_of_a_managed_postgres_in_the_same_way():
    """By the authorities of the image: a quoted word, since a shell would cut it at the `&`."""
    pages = [(ROOT / "deploy" / name).read_text() for name in ("README.md", "k8s/production/kustomization.yaml")]
    shown = [re.findall(r"--database ([^\s`]+)", page) for page in pages]
    assert all(shown)
    assert {re.sub(r"^'[^/]+", "'HOST", word) for words in shown for word in words} == {"'HOST/expops?sslmode=verify-full&sslrootcert=system'"}
