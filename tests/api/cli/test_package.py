"""What is installed: the Debian package with the manual and the completion of shells."""

import gzip
import os
import re
import subprocess

from lib.system.cluster import build_dir
from lib.system.servers import ROOT


def test_the_debian_package(tmp_path):
    env = {**os.environ, "BUILD": build_dir().name.removesuffix("-clang")}
    subprocess.run([ROOT / "deploy" / "deb", tmp_path], env=env, check=True, capture_output=True)
    (package,) = tmp_path.glob("expops_*.deb")
    first = package.read_bytes()
    subprocess.run([ROOT / "deploy" / "deb", tmp_path], env={**env, "TZ": "Asia/Tokyo"}, umask=0o077, check=True, capture_output=True)
    assert package.read_bytes() == first, "the same program makes the same package"
    show = lambda *command: subprocess.run(["dpkg-deb", *command], check=True, capture_output=True, text=True).stdout  # noqa: E731
    assert {"libc6", "libyyjson0"} <= set(show("-f", package, "Depends").strip().split(", "))
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "root"], check=True)
    usr = tmp_path / "root" / "usr"
    version = show("-f", package, "Version").strip()
    assert subprocess.run([usr / "bin/expops", "--version"], capture_output=True, text=True, check=True).stdout == f"expops {version}\n"
    assert ".TH EXPOPS 1" in gzip.decompress((usr / "share/man/man1/expops.1.gz").read_bytes()).decode()
    completions = {"bash-completion/completions/expops", "zsh/vendor-completions/_expops", "fish/vendor_completions.d/expops.fish"}
    for path in {*completions, "doc/expops/copyright"}:
        assert (usr / "share" / path).stat().st_size > 0


def test_the_manual_tells_of_every_command_and_option(bare):
    page = bare.run("manual").stdout.replace("\\-", "-")
    names = [line.strip().split("  ")[0] for line in bare.run("help").stdout.splitlines() if line.startswith("  ") and line[2].islower()]
    assert len(names) > 40 and all(f"expops {name}" in page for name in names)
    for option in ("--hypothesis TEXT", "-w, --wait", "--ca-file FILE", "-o, --output FORM"):
        assert option in page
    assert not re.search(r"^[.'](?!TH|SH|SS|TP|B |I |PP|IP|RS|RE|nf|fi)", page, re.MULTILINE)


def test_it_links_few_libraries(bare):
    listed = subprocess.run(["readelf", "-d", bare.binary], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", listed)) - {"libasan", "libubsan", "libgcc_s", "libtsan", "ld-linux-x86-64"}
    assert needed <= {"libc", "libm", "libcurl", "libyyjson"}
