#!/usr/bin/python3
"""Speed and memory of the search engine beside Lucene 8: indexing, lexical and hybrid search, search during a merge.

usage: search_speed.py SEARCH_SPEED_ENGINE [--papers N] [--rounds N] [--data FOLDER] [--folder FOLDER] [--hits FILE]

The papers are made of those in FOLDER/arxiv-cs (default ../shared/data): each has the sentences of three abstracts of one
category, as many as one of them has, and halves of two titles. So the frequencies of terms and the lengths are natural, while
the vocabulary is that of 40,000 papers. Queries are 2 to 6 consecutive words of titles, the ten best papers are asked for.

Both engines index the same papers on one core, and merge them into one segment; this one does so once more with two threads on
two cores. This engine then trains its embedder and makes
vectors, which is measured by itself. Then they are asked in turn in each round, on
one core; the first round is not counted, results are medians of the rounds. CPU time is that of the whole process. Lucene has
its English analyser, BM25 with its defaults, and one field with title and abstract. Needs liblucene8-java and a JDK; without
them only this engine is measured. --folder keeps the papers and the indexes for the next call; --hits writes the ten best
papers of each query, to compare two versions of the engine.
"""

import argparse
import contextlib
import gzip
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

JARS = ("lucene-core-8.*.jar", "lucene-analyzers-common-8.*.jar")  # in /usr/share/java
QUERIES = 1000
WORDS = (2, 6)
DAYS = 4000  # over which the papers are spread
KINDS = ("lexical", "hybrid", "explained", "Lucene")


def load(data):
    """The papers by primary category: titles as words, abstracts as sentences."""
    groups = {}
    with gzip.open(data / "arxiv-cs" / "corpus.jsonl.gz", "rt") as lines:
        for line in lines:
            paper = json.loads(line)
            sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(paper["text"].split()))
            entry = (paper["title"].split(), sentences, " ".join(paper["categories"]))
            groups.setdefault(paper["categories"][0], []).append(entry)
    return groups


def make_papers(groups, count, path):
    """Lines of id, title, abstract, categories and day."""
    rng = random.Random(1)
    papers = [(group, entry) for group in groups.values() for entry in group]
    with open(path, "w") as out:
        for number in range(count):
            group, (title, sentences, categories) = papers[rng.randrange(len(papers))]
            others = [group[rng.randrange(len(group))] for _ in range(2)]
            pool = sentences + others[0][1] + others[1][1]
            text = " ".join(rng.sample(pool, len(sentences)))
            words = title[: (len(title) + 1) // 2] + others[0][0][len(others[0][0]) // 2 :]
            paper_id = f"{1001 + number // 100000:04d}.{number % 100000:05d}"
            print(paper_id, " ".join(words), text, categories, rng.randrange(DAYS), sep="\t", file=out)


def make_queries(groups, path):
    rng = random.Random(2)
    titles = [entry[0] for group in groups.values() for entry in group if len(entry[0]) >= WORDS[1]]
    with open(path, "w") as out:
        for _ in range(QUERIES):
            title, count = rng.choice(titles), rng.randint(*WORDS)
            begin = rng.randint(0, len(title) - count)
            print(" ".join(title[begin : begin + count]), file=out)


class Peer:
    """A program that indexes, or answers each line of its input by a line of JSON."""

    def __init__(self, command, folder):
        self.command = [*map(str, command), str(folder)]

    def run(self, task, cores=1):
        """What it prints of this task, with its times, if it prints none, and the most memory that it had."""
        began = time.monotonic()
        process = subprocess.Popen([*self.command, task], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: use_cores(cores))
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{self.command[0]} {task}: exit status {process.returncode}")
        result = {"wall_s": time.monotonic() - began, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1e3}
        return result | json.loads(out)

    def serve(self):
        self.process = subprocess.Popen([*self.command, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: use_cores(1))

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def memory_mb(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1e3

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def use_cores(count):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def make_lucene(folder):
    jars = {name: sorted(Path("/usr/share/java").glob(name)) for name in JARS}
    missing = [name for name, found in jars.items() if not found] + [name for name in ("java", "javac") if not shutil.which(name)]
    if missing:
        print("Lucene is left out, because these are missing:", *missing)
        return None
    path = ":".join(str(found[-1]) for found in jars.values())
    source = Path(__file__).with_name("SearchSpeedLucene.java")
    subprocess.run(["javac", "-cp", path, "-d", folder, source], check=True)
    return Peer(["java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", f"{path}:{folder}", "SearchSpeedLucene"], folder)


def show_build(name, result):
    phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in result.get("phases", {}).items())
    cpu = f"{result['cpu_s']:.1f} s CPU" + (f" ({phases})" if phases else "")
    print(f"{name:9} indexed: {result['wall_s']:.1f} s wall, {cpu}; {result['peak_mb']:.0f} MB at most, {result['index_mb']:.0f} MB index", flush=True)


def measure(engine, lucene, rounds):
    """The median of the rounds for each kind of search."""
    asked = {"lexical": (engine, "lexical"), "hybrid": (engine, "hybrid"), "explained": (engine, "explained")}
    if lucene:
        asked["Lucene"] = (lucene, "search")
    results = {kind: [] for kind in asked}
    for number in range(rounds + 1):
        for kind, (peer, line) in asked.items():
            result = peer.ask(line)
            if number > 0:
                results[kind].append(result)
    return {kind: {name: statistics.median(row[name] for row in rows) for name in rows[0]} for kind, rows in results.items()}


def show_search(results):
    peer = results.get("Lucene")
    print(f"{'':9}{'p50 ms':>9}{'p99 ms':>9}{'CPU ms':>9}" + ("   as a ratio to Lucene: p50, p99, CPU" if peer else ""))
    for kind in KINDS:
        if kind not in results:
            continue
        row = results[kind]
        names = ("p50_ms", "p99_ms", "cpu_ms")
        ratios = "   " + ", ".join(f"{row[name] / peer[name]:.2f}" for name in names) if peer else ""
        print(f"{kind:9}" + "".join(f"{row[name]:9.2f}" for name in names) + ratios)


def show_merge(engine, rounds):
    rows = [engine.ask("merge") for _ in range(rounds)]
    quiet, during = (statistics.median(row[name] for row in rows) for name in ("quiet_p99_ms", "merging_p99_ms"))
    seconds = statistics.median(row["merge_s"] for row in rows)
    print(f"hybrid p99: quiet {quiet:.2f} ms, during a merge of all papers ({seconds:.1f} s) {during:.2f} ms: {during / quiet:.2f} times")


def run(options, folder):
    if not (folder / "queries.txt").exists():
        groups = load(options.data)
        make_papers(groups, options.papers, folder / "papers.tsv")
        make_queries(groups, folder / "queries.txt")
    engine, lucene = Peer([options.engine], folder), make_lucene(folder)
    print(f"{options.papers} papers, {QUERIES} queries, {options.rounds} rounds")
    two = engine.run("words2", cores=2)
    show_build("2 threads", two)
    words = engine.run("words")
    show_build("words", words)
    if lucene and not (folder / "lucene").exists():
        peer = lucene.run("build")
        show_build("Lucene", peer)
        for name, row in (("words", words), ("2 threads", two)):
            print(f"{name}, as a ratio to Lucene: wall {row['wall_s'] / peer['wall_s']:.2f}, CPU {row['cpu_s'] / peer['cpu_s']:.2f}")
    show_build("vectors", engine.run("hybrid"))
    for peer in filter(None, (engine, lucene)):
        peer.serve()
    engine.ask("hybrid")
    print(f"engine    serves with {engine.memory_mb():.0f} MB")
    if options.hits:
        Path(options.hits).write_text(engine.ask("hits")["hits"])
    show_search(measure(engine, lucene, options.rounds))
    if lucene:
        print(f"Lucene    serves with {lucene.memory_mb():.0f} MB, its mapped files included")
        lucene.end()
    show_merge(engine, options.rounds)
    engine.end()


def run_with_options(run, parser):
    """Call `run` with the options of the parser and of every measurement on these papers, and with the folder for them."""
    parser.add_argument("--papers", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[4] / "shared" / "data")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        run(options, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("engine")
    parser.add_argument("--hits")
    run_with_options(run, parser)


if __name__ == "__main__":
    main()
