#!/usr/bin/python3
"""Checks that the compiler does not make.

usage: lint.py words ROOT        refused functions and words, sizes, includes of higher folders, folders of many files, unregistered tests,
                                migrations that Postgres refuses or that hold functions, bodies of functions that are there twice, triggers
                                that replace another one, edited functions without a new version, SQL in black-box tests, names that a Python
                                file of tests defines twice, what libcommon/ARCHITECTURE.md, comments and tests/lib/schedule.py name
                                and is gone, an image of another version
       lint.py format ROOT       clang-format would change nothing
       lint.py tidy ROOT BUILD   clang-tidy reports nothing

Exit status: 0; 1 after one line per fault; 77 when the pinned tool is not installed.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
LLVM = "14"  # Debian 12's; other versions format differently

VERSIONS_TOOL = Path(__file__).resolve().parents[1] / "libcommon/tools/functions_version.py"
SOURCE_FOLDERS = ["libcommon", "gateway", "svc-*", "tests"]

# Refused function -> replacement. Each of them checks no bound, reports no error, has hidden state, or adds to NULL.
REFUSED = {
    "strcpy": "arena_strdup() or memcpy()",
    "strncpy": "arena_strndup() or memcpy()",
    "stpcpy": "arena_printf()",
    "strcat": "buf_puts()",
    "strncat": "buf_add()",
    "sprintf": "snprintf() or arena_printf()",
    "vsprintf": "vsnprintf() or arena_vprintf()",
    "gets": "fgets()",
    "scanf": "a parser that reports errors",
    "sscanf": "a parser that reports errors",
    "fscanf": "a parser that reports errors",
    "atoi": "strtoll() with a check",
    "atol": "strtoll() with a check",
    "atoll": "strtoll() with a check",
    "atof": "strtod() with a check",
    "strtok": "memchr()",
    "strerror": "uv_strerror() or strerror_r()",
    "localtime": "timefmt.h",
    "gmtime": "gmtime_r()",
    "ctime": "timefmt.h",
    "asctime": "timefmt.h",
    "tmpnam": "mkstemp()",
    "mktemp": "mkstemp()",
    "rand": "crypto.h",
    "srand": "crypto.h",
    "random": "crypto.h",
    "system": "uv_spawn()",
    "popen": "uv_spawn()",
    "alloca": "arena_alloc()",
    "setjmp": "raise()",
    "longjmp": "raise()",
    "usleep": "fiber_sleep()",
    "yyjson_obj_foreach": "json_obj_foreach()",
    "sleep": "fiber_sleep()",
}
# Tests may also call these.
TESTS_MAY = {"system", "popen", "sscanf", "fscanf", "rand", "srand", "random"}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(REFUSED) + r")\s*\(")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
FOLDER_ROW = re.compile(r"^  \['([^']*)', \[", re.MULTILINE)  # of a component's meson.build
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SIDEWAYS = re.compile(r'^\s*#\s*include\s+"[^"]*\.\./')

FOLDER_FILES_MAX = 30
FILE_LINES_MAX = 700
FUNCTION_LINES_MAX = 70
SCRIPT_COLUMNS_MAX = 130
COMMENT_COLUMNS_MAX = 100
TAB_COLUMNS = 8

STRING_OR_COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def sources(root, *suffixes):
    for folder in SOURCE_FOLDERS:
        for top in sorted(root.glob(folder)):
            for path in sorted(top.rglob("*")):
                if path.suffix in suffixes and "node_modules" not in path.parts:
                    yield path


def code_only(text):
    """The text with comments and string literals replaced by spaces."""
    return STRING_OR_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def lint_calls(text, may):
    for number, line in enumerate(code_only(text).splitlines(), 1):
        for match in CALL.finditer(line):
            if match.group(1) not in may:
                yield number, f"{match.group(1)}() is refused: use {REFUSED[match.group(1)]}"


def lint_lines(text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        yield FILE_LINES_MAX, f"a file of {len(lines)} lines, the limit is {FILE_LINES_MAX}"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished work: finish it or open an issue"
        if SIDEWAYS.match(line):
            yield number, "includes a header of another folder by a relative path"


def lint_columns(text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > SCRIPT_COLUMNS_MAX or "\t" in line or line != line.rstrip():
            yield number, f"a tab, a space at the end, or more than {SCRIPT_COLUMNS_MAX} columns"


# A line of a shape, an example or a diagram in a comment, such as one of JSON. It may be longer than a line of text.
EXAMPLE = re.compile(r"\s*(/\*)?\*( {4,}| +[\"{]|.*[\u2500-\u25ff])")


def lint_comments(text):
    """No line of a comment is too long. clang-format breaks code alone."""
    lines = text.splitlines()
    for match in STRING_OR_COMMENT.finditer(text):
        if not match.group(0).startswith("/"):
            continue
        first = text.count("\n", 0, match.start())
        for number in range(first, first + match.group(0).count("\n") + 1):
            line = lines[number].expandtabs(TAB_COLUMNS)
            if len(line) > COMMENT_COLUMNS_MAX and not EXAMPLE.match(line):
                yield number + 1, f"a comment of more than {COMMENT_COLUMNS_MAX} columns"


def lint_functions(text):
    """A function body starts and ends with a brace in the first column."""
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            if number - start - 1 > FUNCTION_LINES_MAX:
                yield start, f"a function of {number - start - 1} lines, the limit is {FUNCTION_LINES_MAX}"
            start = None


# A cleanup attribute, and what may raise: a raise leaves the stack without running cleanups.
CLEANUP = re.compile(r"\b(attr_cleanup|(?<!\")\w*auto_\w+|__cleanup__|cleanup\()")
RAISES = re.compile(r"\brq\b|\braise_\w+\(|\bfiber_(exit|wait|sleep|join|offload)\w*\(")


def lint_cleanups(text):
    """No cleanup attribute in a function that can raise."""
    start, body = None, []
    for number, line in enumerate(code_only(text).splitlines(), 1):
        if line == "{":
            start, body = number, []
        elif line == "}" and start is not None:
            function = "\n".join(body)
            if CLEANUP.search(function) and RAISES.search(function):
                yield start, "a cleanup attribute in a function that can raise: use the request's arena"
            start = None
        elif start is not None:
            body.append(line)


def lint_header(path, text):
    if path.suffix == ".h" and "#pragma once" not in text:
        yield 1, "a header without #pragma once"


def lint_registered(root):
    """Each tests/unit/FOLDER/MODULE_test.c must be listed in the row of FOLDER in tests/unit/meson.build."""
    unit = root / "tests" / "unit"
    listing = unit / "meson.build"
    text = listing.read_text() if listing.exists() else ""
    rows = {row.group(1): row.group(2) for row in re.finditer(r"'([^']+)': \[([^\]]*)\]", text)}
    for path in sorted(unit.rglob("*_test.c")):
        folder, module = str(path.parent.relative_to(unit)), path.name.removesuffix("_test.c")
        if f"'{module}'" not in rows.get(folder, ""):
            yield f"{path.relative_to(root)}: not registered in {listing.relative_to(root)}"


def folder_orders(root):
    """(component, folders from the bottom up) of each meson.build that has a table of folders."""
    for listing in sorted(root.glob("*/meson.build")):
        folders = FOLDER_ROW.findall(listing.read_text())
        if folders:
            yield listing.parent, folders


def lint_order(root):
    """A file may include headers of its own folder, of the folders below it in its meson.build, and of libcommon."""
    orders = list(folder_orders(root))
    shared = next((folders for component, folders in orders if component.name == "libcommon"), [])
    for component, folders in orders:
        for rank, folder in enumerate(folders):
            allowed = set(folders[: rank + 1]) | (set() if component.name == "libcommon" else set(shared))
            for path in sorted((component / folder).glob("*.[ch]")):
                if folder == "" and path.name == "main.c":
                    continue
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    match = INCLUDE.match(line)
                    if match and os.path.dirname(match.group(1)) not in allowed | {""}:
                        yield f"{path.relative_to(root)}:{number}: includes {match.group(1)}, which is not below {folder}"


def lint_folder_headers(root):
    """Each folder of a meson.build's table has one header whose first comment begins with the folder's path."""
    for component, folders in folder_orders(root):
        for folder in folders:
            path = component / folder
            start = f"/** {path.relative_to(root)}/"
            found = [header.name for header in sorted(path.glob("*.h")) if header.read_text(encoding="utf-8").startswith(start)]
            if len(found) != 1:
                yield f"{path.relative_to(root)}: {len(found)} headers begin with \"{start}\", not one: {' '.join(found)}"


def lint_folder_sizes(root):
    """A folder has few files of its own: one that has more holds more than one idea. Tests mirror the tree or lie beside each other."""
    components = {path.parent for path in root.glob("*/meson.build")} - {root / "tests", root / "deploy"}
    for component in sorted(components | {root / "tests" / "bench", root / "tests" / "lib"}):
        for folder in sorted({path.parent for path in component.rglob("*") if "node_modules" not in path.parts}):
            count = sum(path.is_file() for path in folder.iterdir())
            if count > FOLDER_FILES_MAX:
                yield f"{folder.relative_to(root)}: {count} files, the limit is {FOLDER_FILES_MAX}"


CREATED_FUNCTION = re.compile(r"CREATE (?:OR REPLACE )?FUNCTION (\w+)\(")


def sql_code(path):
    return re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8"))


def lint_functions_of_tables(root):
    """A migration must not create a function, unless a table uses it; others are in files NOUN.fn.sql (libcommon/pg/migrate.h)."""
    for component in sorted({path.relative_to(root).parts[0] for path in root.glob("*/**/*.fn.sql")}):
        texts = {path: sql_code(path) for path in sorted((root / component).rglob("migrations/*.sql"))}
        everything = re.sub(r"EXECUTE FUNCTION \w+", "", "".join(texts.values()))
        for path, text in texts.items():
            for name in CREATED_FUNCTION.findall(text):
                if len(re.findall(rf"\b{name}\(", everything)) < 2:
                    yield f"{path.relative_to(root)}: creates {name}(), which no table uses: it belongs into a file NOUN.fn.sql"


# A function and its body; a shorter one, such as an expression, may be that of two.
FUNCTION_BODY = re.compile(
    r"CREATE (?:OR REPLACE )?FUNCTION (\w+)\((?:(?!\bAS \$|;).)*?(?:\bAS \$(\w*)\$(.*?)\$\2\$|\b(?:RETURN|BEGIN ATOMIC)\b([^;]*);)", re.DOTALL
)
FUNCTION_BODY_MIN = 80  # characters without spaces


def lint_function_bodies(root):
    """No body of an SQL function is there twice: one of the functions calls the other."""
    known = {}
    for path in sources(root, ".sql"):
        for name, _, quoted, standard in FUNCTION_BODY.findall(sql_code(path)):
            body, place = "".join((quoted or standard).split()), f"{path.relative_to(root)}: {name}()"
            if len(body) >= FUNCTION_BODY_MIN and known.setdefault(body, place) != place:
                yield f"{place} has the body of {known[body]}"


CREATED_TRIGGER = re.compile(r"CREATE (?:OR REPLACE )?TRIGGER (\w+)\b[^;]*? ON (\w+)")


def lint_triggers(root):
    """No trigger of a table has the name of another one, which it would replace."""
    common = sorted(root.glob("libcommon/**/*.fn.sql"))
    for component in sorted({path.parent.parent for path in root.glob("*/migrations/*.sql")}):
        known = {}
        for path in common + sorted(component.rglob("*.fn.sql")):
            for name, table in CREATED_TRIGGER.findall(sql_code(path)):
                if (name, table) in known:
                    yield f"{path.relative_to(root)}: the trigger {name} of {table} replaces that of {known[name, table].relative_to(root)}"
                known[name, table] = path


# The head of a function with an SQL-standard body, its end, and changes of a table that rewrite its rows or may do so.
SQL_FUNCTION = re.compile(r"CREATE (?:OR REPLACE )?FUNCTION (\w+)((?:(?!\bAS \$|;).)*?)\n?\s*\b(?:RETURN|BEGIN ATOMIC)\b", re.DOTALL)
DROPPED_FUNCTION = re.compile(r"DROP FUNCTION (?:IF EXISTS )?(\w+)")
REWRITE = re.compile(r"ALTER TABLE (\w+)[^;]*\b(?:ADD COLUMN [^,;]*\bDEFAULT\b|ALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE\b)")


def lint_migrations(root):
    """A migration must not rewrite a table whose row type a function with an SQL-standard body takes or returns
    (libcommon/pg/migrate.h)."""
    common = sorted(root.glob("libcommon/**/*.fn.sql")) + sorted(root.glob("libcommon/pg/migrations/*.sql"))
    for component in sorted({path.parent.parent for path in root.glob("*/migrations/*.sql")} | {root / "libcommon"}):
        heads = {}
        for path in common + sorted(component.rglob("*.fn.sql")) + sorted(component.glob("migrations/*.sql")):
            text = sql_code(path)
            for table in REWRITE.findall(text):
                for name, head in heads.items():
                    if re.search(rf"\b{table}\b", head):
                        yield f"{path.relative_to(root)}: rewrites {table}, whose row type {name}() uses: set the default in a statement of its own"
            for name in DROPPED_FUNCTION.findall(text):
                heads.pop(name, None)
            heads.update(SQL_FUNCTION.findall(text))


VERSION = re.compile(r"^  version: '([^']+)'", re.MULTILINE)  # of meson.build
LABEL_VERSION = re.compile(r"^LABEL .*\bimage\.version=(\S+)", re.MULTILINE)
IMAGE_TAG = re.compile(r"IMAGE:-[\w-]+:?([^}]*)\}|newTag: ([\w.-]+)|-t expops(?:-servers)?:(\S+)")


def component_of(root, path):
    return path.relative_to(root).parts[0]


def lint_column_names(root):
    """The columns that a file reads by name are in one of its statements, if it has any."""
    statements = {}
    for path in sources(root, ".sql"):
        if not path.name.endswith(".fn.sql"):
            statements[component_of(root, path), path.name] = path.read_text(encoding="utf-8")
    for path in sources(root, ".c"):
        text, component = path.read_text(encoding="utf-8"), component_of(root, path)
        own = "\n".join(statements.get((component, name), "") for name in SQL_HEADER.findall(text))
        for name in COLUMN_NAME.findall(text):
            if own and component != "tests" and not re.search(rf"\b{name}\b", own):
                yield f'{path.relative_to(root)}: no statement of the file has a column "{name}"'


def lint_version(root):
    """The image's label and the tags of images have the version of meson.build; their files cannot read it there."""
    build, image = root / "meson.build", root / "deploy" / "Dockerfile"
    if not image.exists():
        return
    version, labels = VERSION.search(build.read_text()).group(1), LABEL_VERSION.findall(image.read_text())
    if labels != [version]:
        yield f"deploy/Dockerfile: the version of its label is {' '.join(labels) or 'missing'}, that of meson.build {version}"
    for path in [root / "deploy" / "compose.yaml", root / "deploy" / "README.md", *sorted((root / "deploy" / "k8s").rglob("kustomization.yaml"))]:
        for tags in IMAGE_TAG.findall(path.read_text()) if path.exists() else ():
            if (tag := "".join(tags)) != version:
                yield f"{path.relative_to(root)}: an image has the tag '{tag}', the version of meson.build is {version}"


ARCHITECTURE = "libcommon/ARCHITECTURE.md"
ARCHITECTURE_LINES_MAX = 150
QUOTED = re.compile(r"`([^`]+)`")
QUOTED_PATH = re.compile(r"[\w-][\w.*/-]*(?:/|\.(?:c|h|sql|def|yml|md))|[\w-]+(?:/[\w-]+)+")
SQL_HEADER = re.compile(r'^#include "(?:[\w-]+/)*([\w-]+\.sql)\.h"', re.M)
COLUMN_NAME = re.compile(r'\bpg_get(?:_int|_float|_bool|_bytes)?\((?:[^;{}"]|\([^()]*\))*?"(\w+)"[,)]')
QUOTED_FUNCTION = re.compile(r"(\w+)\(\)")


def lint_architecture(root):
    """The page is short, and the files and functions that it names exist. A file is named from the root or from libcommon."""
    page = root / ARCHITECTURE
    if not page.exists():
        return
    lines = page.read_text(encoding="utf-8").splitlines()
    if len(lines) > ARCHITECTURE_LINES_MAX:
        yield f"{ARCHITECTURE}: {len(lines)} lines, the limit is {ARCHITECTURE_LINES_MAX}"
    code = "".join(path.read_text(encoding="utf-8") for path in sources(root, ".c", ".sql") if "tests" not in path.relative_to(root).parts)
    for number, line in enumerate(lines, 1):
        for name in QUOTED.findall(line):
            function = QUOTED_FUNCTION.fullmatch(name)
            if function and not re.search(rf"\b{function.group(1)}\(", code):
                yield f"{ARCHITECTURE}:{number}: there is no function {name}"
            elif QUOTED_PATH.fullmatch(name) and not (any(root.glob(name)) or any((root / "libcommon").glob(name))):
                yield f"{ARCHITECTURE}:{number}: there is no file {name}"


SQL_COMMENT = re.compile(r"--[^\n]*")
CALLED_IN_COMMENT = re.compile(r"\b([a-z]\w*_\w+)\(\)")  # names without _ may be those of libraries


def lint_called_in_comments(root):
    """Comments of C and SQL name functions that there are. Migrations stay as they were merged."""
    texts = {path: path.read_text(encoding="utf-8") for path in sources(root, ".c", ".h", ".def", ".sql")}
    known = set()
    for path, text in texts.items():
        known.update(re.findall(r"\w+", code_only(SQL_COMMENT.sub("", text) if path.suffix == ".sql" else text)))
    for path, text in texts.items():
        if path.parent.name == "migrations":
            continue
        comments = SQL_COMMENT if path.suffix == ".sql" else STRING_OR_COMMENT
        for comment in comments.finditer(text):
            for match in () if comment.group(0)[0] in "\"'" else CALLED_IN_COMMENT.finditer(comment.group(0)):
                if match.group(1) not in known:
                    number = text.count("\n", 0, comment.start() + match.start()) + 1
                    yield f"{path.relative_to(root)}:{number}: there is no function {match.group(0)}"


# Tests of SQL itself: of functions, plans, constraints, migrations and rights.
SQL_TESTS = {
    "gateway/test_audit_rights.py", "gateway/test_person_migration.py", "svc-integrations/test_identity_migration.py", "svc-interests/test_large_accounts.py",
    "svc-interests/test_row_rules.py", "svc-interests/test_waiting_limit.py", "svc-search/test_harvest_times.py",
    "system/isolation/test_stolen_processes.py", "system/test_local_time.py",
}  # fmt: skip
SQL_TEXT = re.compile(r"\.execute\(|\b(?:SELECT|INSERT INTO|DELETE FROM)\b|\bUPDATE \w+ SET\b")


def lint_sql_of_tests(root):
    """A black-box test says no SQL, unless it tests SQL itself: tables are changed and read by functions of tests/lib/tables."""
    folder = root / "tests" / "api"
    if not folder.exists():
        return
    for path in sorted(folder.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        numbers = [number for number, line in enumerate(lines, 1) if SQL_TEXT.search(line)]
        if str(path.relative_to(folder)) in SQL_TESTS:
            if not numbers:
                yield f"{path.relative_to(root)}: has no SQL and is listed as a test of SQL"
            continue
        for number in numbers:
            yield f"{path.relative_to(root)}:{number}: SQL in a test: make it a function of tests/lib/tables"
    for name in sorted(name for name in SQL_TESTS if not (folder / name).exists()):
        yield f"tests/api/{name}: is listed as a test of SQL and does not exist"


OWN_CLIENT = re.compile(r"\bhttpx\.(?:request|get|post|put|patch|delete|head|options|stream|Client)\(")
CLIENTS = "tests/lib/http/plain_http.py"


def lint_clients(root):
    """Clients are those of tests/lib/http: each one that httpx makes by itself reads the certificates of the system, for 50 ms of a processor."""
    for folder in ("api", "fault", "lib"):
        for path in sorted((root / "tests" / folder).rglob("*.py")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if OWN_CLIENT.search(line) and str(path.relative_to(root)) != CLIENTS:
                    yield f"{path.relative_to(root)}:{number}: a client that reads certificates: use lib.http.plain_http"


def lint_names(root):
    """A Python file defines each name once: the second function of a name takes the place of the first, and of a test with it."""
    for path in sorted((root / "tests").rglob("*.py")):
        known = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body if "node_modules" not in path.parts else []:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                if node.name in known:
                    yield f"{path.relative_to(root)}:{node.lineno}: {node.name} is defined above"
                known.add(node.name)


SCHEDULED = re.compile(r'"((?:api|fault)/[^"]*)"')


def lint_schedule(root):
    """The files and folders whose times tests/lib/schedule.py knows exist."""
    table = root / "tests" / "lib" / "schedule.py"
    for name in sorted(set(SCHEDULED.findall(table.read_text(encoding="utf-8")))) if table.exists() else []:
        if not (root / "tests" / name).exists():
            yield f"{table.relative_to(root)}: there is no {name}"


def words(root):
    faults = sorted({*lint_registered(root), *lint_order(root), *lint_folder_headers(root), *lint_folder_sizes(root), *lint_migrations(root), *lint_functions_of_tables(root),
                     *lint_function_bodies(root), *lint_triggers(root), *lint_column_names(root), *lint_version(root), *lint_architecture(root),
                     *lint_called_in_comments(root),
                     *lint_sql_of_tests(root), *lint_clients(root), *lint_names(root), *lint_schedule(root)})  # fmt: skip
    faults += subprocess.run([VERSIONS_TOOL, root], stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    for path in sources(root, ".c", ".h"):
        text = path.read_text(encoding="utf-8")
        may = TESTS_MAY if "tests" in path.relative_to(root).parts else set()
        for check in (lint_calls(text, may), lint_lines(text), lint_comments(text), lint_functions(text), lint_cleanups(text), lint_header(path, text)):
            faults += [f"{path.relative_to(root)}:{number}: {what}" for number, what in check]
    for path in sources(root, ".mjs"):
        text = path.read_text(encoding="utf-8")
        for check in (lint_lines(text), lint_columns(text)):
            faults += [f"{path.relative_to(root)}:{number}: {what}" for number, what in check]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def pinned(tool):
    """Path of the pinned version of the tool; exits when it is missing."""
    found = shutil.which(f"{tool}-{LLVM}")
    if not found:
        print(f"{tool}-{LLVM} is not installed")
        sys.exit(SKIPPED)
    return found


def tidy(root, build):
    files = [str(path) for path in sources(root, ".c") if "fuzz" not in path.parts]
    command = [pinned("run-clang-tidy"), "-quiet", "-p", build, f"-clang-tidy-binary={pinned('clang-tidy')}"]
    return subprocess.run(command + files, check=False).returncode


def check_format(root):
    files = [str(path) for path in sources(root, ".c", ".h")]
    if not files:
        return 0
    command = [pinned("clang-format"), "--dry-run", "--ferror-limit=1", *files]
    notes = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    unformatted = sorted({os.path.relpath(line.split(":")[0]) for line in notes.splitlines() if "[-Wclang-format" in line})
    for path in unformatted:
        print(f"{path}: not formatted by clang-format-{LLVM} -i")
    return 1 if unformatted else 0


def main():
    command, root = sys.argv[1], Path(sys.argv[2])
    os.chdir(root)
    if command == "words":
        return words(root)
    if command == "format":
        return check_format(root)
    return tidy(root, sys.argv[3])


if __name__ == "__main__":
    sys.exit(main())
