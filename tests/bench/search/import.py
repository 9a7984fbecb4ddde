#!/usr/bin/python3
"""How fast papers come in: `svc-search import` into Postgres until all are searchable.

usage: import.py [--papers N] [--rounds N] [--data FOLDER] [--folder FOLDER]

The papers are those of search_speed.py, as lines of arXiv's metadata snapshot with the authors of other papers. Postgres (with
fsync) and svc-search start empty for each round. The clock runs from the start of the command until the index has all papers;
CPU time is that of the command, of svc-search and of Postgres. Beside it runs what does no more than store and index the same
papers: COPY of the rows into a table with a primary key, in the same server, and then Lucene's indexing (on one core).
Medians of the rounds, which alternate. Lucene is left out when it is not installed. Needs binaries of a release build.
--folder keeps the papers for the next call.
"""

import argparse
import gzip
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from search_speed import DAYS, load, make_lucene, make_papers, make_queries, run_with_options

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system import servers  # noqa: E402
from lib.system.cluster import Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of_process  # noqa: E402

DAY_SECONDS = 86400
PATIENCE_SECONDS = 3600
POLL_SECONDS = 0.1

TABLE = """
CREATE TABLE plain (arxiv_id text COLLATE "C" PRIMARY KEY, title text NOT NULL, abstract text NOT NULL, authors text[] NOT NULL,
                    categories text[] NOT NULL, published_at timestamptz, updated_at timestamptz)
"""


def load_authors(data):
    with gzip.open(data / "arxiv-cs" / "corpus.jsonl.gz", "rt") as lines:
        return [json.loads(line)["authors"] for line in lines]


def snapshot_line(columns, authors, seconds):
    """`seconds` is when the paper was submitted; in arXiv's snapshot this follows the order of the ids."""
    paper_id, title, abstract, categories, _ = columns
    created = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(seconds))
    return {
        "id": paper_id,
        "submitter": authors[0],
        "authors": ", ".join(authors),
        "title": title,
        "comments": "12 pages, 4 figures",
        "journal-ref": None,
        "doi": None,
        "report-no": None,
        "categories": categories,
        "license": "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
        "abstract": f"  {abstract}\n",
        "versions": [{"version": "v1", "created": created}],
        "update_date": time.strftime("%Y-%m-%d", time.gmtime(seconds + DAY_SECONDS)),
        "authors_parsed": [[name.split()[-1], " ".join(name.split()[:-1]), ""] for name in authors],
    }


def copy_field(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def copy_array(items):
    quoted = ",".join('"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in items)
    return copy_field("{" + quoted + "}")


def make_files(options, folder):
    """papers.tsv for Lucene, papers.jsonl for the import, papers.copy for COPY."""
    if (folder / "papers.copy").exists():
        return
    groups, lists = load(options.data), load_authors(options.data)
    make_papers(groups, options.papers, folder / "papers.tsv")
    make_queries(groups, folder / "queries.txt")
    rng = random.Random(3)
    with open(folder / "papers.tsv") as papers, open(folder / "papers.jsonl", "w") as lines, open(folder / "papers.copy", "w") as rows:
        for number, paper in enumerate(papers):
            columns, authors = paper.rstrip("\n").split("\t"), rng.choice(lists) or ["Nobody"]
            line = snapshot_line(columns, authors, number * DAYS * DAY_SECONDS // options.papers)
            print(json.dumps(line), file=lines)
            created = line["versions"][0]["created"]
            print(columns[0], *map(copy_field, columns[1:3]), copy_array(authors), copy_array(columns[3].split()), created, created,
                  sep="\t", file=rows)


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Search(Cluster):
    """Only svc-search, which needs no other process to index."""

    def __enter__(self):
        self.servers.__enter__()
        self.start("svc-search")
        self.wait_ready("svc-search")
        return self


def import_once(cluster, options, folder):
    (search,) = cluster["svc-search"]
    postgres = PostgresTime(cluster.postgres)
    before = [children_cpu(), cpu_of_process(search.popen.pid), postgres.seconds()]
    began = time.monotonic()
    cluster.run("svc-search", "import", folder / "papers.jsonl", timeout=PATIENCE_SECONDS)
    stored = time.monotonic() - began
    while search.metric("expops_index_documents") < options.papers:
        time.sleep(POLL_SECONDS)
    wall = time.monotonic() - began
    after = [children_cpu(), cpu_of_process(search.popen.pid), postgres.seconds()]
    cpu = [end - start for end, start in zip(after, before)]
    peak = int(Path(f"/proc/{search.popen.pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3
    return {"wall": wall, "stored": stored, "import": cpu[0], "svc-search": cpu[1], "postgres": cpu[2], "peak_mb": peak}


def copy_once(cluster, folder):
    with cluster.postgres.connect() as db:
        db.execute(TABLE)
        postgres = PostgresTime(cluster.postgres)
        before, began = [children_cpu(), postgres.seconds()], time.monotonic()
        subprocess.run(["psql", "-q", cluster.postgres.url(), "-c", f"\\copy plain FROM '{folder / 'papers.copy'}'"], check=True)
        wall = time.monotonic() - began
        return {"wall": wall, "psql": children_cpu() - before[0], "postgres": postgres.seconds() - before[1]}


def median(rows):
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def show(name, papers, row, cpu_names):
    cpu = sum(row[part] for part in cpu_names)
    parts = ", ".join(f"{part} {row[part] / papers * 1e6:.0f}" for part in cpu_names)
    print(f"{name:28}{papers / row['wall']:8.0f} papers/s{row['wall']:8.1f} s{cpu / papers * 1e6:7.0f} us CPU a paper ({parts})", flush=True)
    return papers / row["wall"], cpu


def run(options, folder):
    make_files(options, folder)
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    imports, copies, indexings = [], [], []
    lucene = make_lucene(folder)
    for _ in range(options.rounds):
        with Search() as cluster:
            imports.append(import_once(cluster, options, folder))
            print(json.dumps({name: round(value, 2) for name, value in imports[-1].items()}), flush=True)
            cluster.stop_all()
            with cluster.postgres.connect("search") as db:
                assert db.execute("SELECT count(*) FROM asset").fetchone() == (options.papers,)
            copies.append(copy_once(cluster, folder))
        if lucene:
            subprocess.run(["rm", "-rf", folder / "lucene"], check=True)
            indexings.append(lucene.run("build"))
    print(f"{options.papers} papers, {options.rounds} rounds; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    row = median(imports)
    rate, cpu = show("import until searchable", options.papers, row, ("import", "svc-search", "postgres"))
    print(f"{'':28}{options.papers / row['stored']:8.0f} papers/s until stored; svc-search {row['peak_mb']:.0f} MB at most")
    plain = median(copies)
    show("COPY into one table", options.papers, plain, ("psql", "postgres"))
    if indexings:
        index = median(indexings)
        show("Lucene's indexing", options.papers, {"wall": index["wall_s"], "Lucene": index["cpu_s"]}, ("Lucene",))
        peer_wall, peer_cpu = plain["wall"] + index["wall_s"], plain["psql"] + plain["postgres"] + index["cpu_s"]
        print(f"beside COPY and then Lucene: {rate * peer_wall / options.papers:.2f} times as fast, {cpu / peer_cpu:.2f} of the CPU time")


if __name__ == "__main__":
    run_with_options(run, argparse.ArgumentParser(description=__doc__.partition("\n")[0]))
