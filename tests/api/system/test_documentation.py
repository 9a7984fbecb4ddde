"""Every setting is in one of the pages of the documentation. Links and forms of the pages: tests/unit/tools/test_documentation.py."""

import re
import subprocess

from lib.system.servers import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("tests/bench/*.md"), *ROOT.glob("gateway/cli/*.md")])
SETTING = re.compile(r"^  ([A-Z][A-Z0-9_]+)\b", re.MULTILINE)  # a row of --help


def test_every_setting_is_documented(cluster):
    words = set(re.findall(r"[A-Z][A-Z0-9_]+", "".join(page.read_text() for page in PAGES)))
    for name in cluster.processes:
        printed = subprocess.run([cluster.binary(name), "--help"], capture_output=True, text=True, check=True).stdout
        settings = SETTING.findall(printed)
        assert "DATABASE_URL" in settings, printed
        assert [one for one in settings if one not in words] == [], name
