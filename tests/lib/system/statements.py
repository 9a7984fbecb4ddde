"""The named statements beside the C that runs them, as libcommon/tools/sql_header.py reads them."""

import importlib.util
import sys

from lib.system.servers import ROOT


def reader(root):
    """The module sql_header of a source tree."""
    tools = root / "libcommon" / "tools"
    spec = importlib.util.spec_from_file_location(f"sql_header of {root}", tools / "sql_header.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(tools))
    spec.loader.exec_module(module)
    sys.path.remove(str(tools))
    return module


def statements_of(path, read=reader(ROOT)):
    """{name: text} of a noun.sql."""
    return {name: "\n".join(lines) for name, lines in read.parse(path.read_text(encoding="utf-8")).items()}


def statement_files(folder):
    """The files of statements below a folder of a source tree."""
    return [path for path in sorted(folder.rglob("*.sql")) if "migrations" not in path.parts and not path.name.endswith(".fn.sql")]
