#!/usr/bin/env python3
"""Hostile text in every string of every format that tutti reads, in names of files and in arguments.

Whatever a command then does, nothing that a terminal, a spreadsheet or a browser would obey may come out of it raw,
no line may be forged, no file may be written outside, and it must not be a bug (exit code 70, or a signal).

    tests/hostile/run.py build/release/tutti [--only WORD]
"""

import argparse
import concurrent.futures
import csv
import html
import io
import itertools
import json
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import unicodedata

TESTS = pathlib.Path(__file__).resolve().parent.parent
FORGED = "VALID  forged"

# What a person at a terminal would be fooled by, and what passes where control characters are refused.
TERMINAL = f"\x1b[2A\x1b[2K\r\n{FORGED}\n\x1b]0;t\x07\x1b[8m\x7f\u009b31m\u0085\u202e\u2066\u200b\u2028\ufeff"
MARKUP = "=cmd|' /C calc'!A0</script><img src=x onerror=alert(1)>\u009b31m\u202e\u200b\u2029"
OUTSIDE = "../" * 8 + "outside"
POISONS = [TERMINAL, MARKUP, OUTSIDE]


# What a terminal would obey or not show; Python's Unicode may be older than a name, so unassigned characters are let be.
OBEYED = re.compile("[%s]" % "".join(re.escape(chr(code)) for code in range(sys.maxunicode + 1)
                                     if chr(code) != "\n" and unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Cs")))


def complaint_about(data):
    """What is wrong with bytes that came out, or None."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"bytes that are no UTF-8: {data[max(0, error.start - 20):error.end + 20]!r}"
    if found := OBEYED.search(text):
        return f"U+{ord(found.group()):04X} raw: {text[max(0, found.start() - 40):found.start() + 20]!r}"
    if any(line.startswith(FORGED) for line in text.split("\n")):
        return "a forged line"
    return None


# --- Hostile versions of a file -----------------------------------------------------------------------------


def strings_of(value):
    """Every string in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_of(item)


def renamed(value, old, new):
    """The value with one string in place of another wherever it stands, so that what refers to it still does."""
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, list):
        return [renamed(item, old, new) for item in value]
    if isinstance(value, dict):
        return {renamed(key, old, new): renamed(item, old, new) for key, item in value.items()}
    return value


def json_versions(text, poisons=None):
    """Each string replaced by each poison."""
    value = json.loads(text)
    most = 60  # the strings of a long list are all alike
    for number, old in enumerate(itertools.islice(dict.fromkeys(strings_of(value)), most)):
        for poison in poisons or POISONS:
            yield json.dumps(renamed(value, old, poison), ensure_ascii=number % 2 == 0).encode("utf-8", "surrogatepass")


def word_versions(text, quote=lambda word: word):
    """For formats of lines and tags: each word replaced, the first time that it stands there."""
    for word in dict.fromkeys(re.findall(r"[\w.:-]{2,}", text)):
        for poison in POISONS[:2]:
            yield text.replace(word, quote(poison), 1).encode()
    yield text.encode().replace(b"a", b"\xff\x9b\x1b[8m", 1)


def xml_versions(text):
    quote = lambda word: "".join(f"&#{ord(c)};" if ord(c) < 32 else html.escape(c) for c in word)
    yield from word_versions(text, quote)
    yield from word_versions(text)


# --- The commands -------------------------------------------------------------------------------------------


class Runner:
    def __init__(self, program, scratch):
        self.program, self.scratch, self.work = program, scratch, scratch / "a" / "b" / "work"
        self.work.mkdir(parents=True)
        self.problems, self.calls, self.number = [], 0, itertools.count()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.work), "LC_ALL": "C.UTF-8", "TERM": "xterm",
                            **{k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_", "LSAN_"))}}

    def put(self, content, suffix, name=None):
        """A file of that content; its path as the command is to be given it."""
        path = self.work / (name if name is not None else f"f{next(self.number)}{suffix}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return os.path.relpath(path, self.work)

    def put_all(self, folder, versions, suffix):
        """A folder of such files."""
        (self.work / folder).mkdir(parents=True, exist_ok=True)
        return [self.put(content, suffix, f"{folder}/v{i}{suffix}") for i, content in enumerate(versions)]

    def complain(self, arguments, problem):
        self.problems.append(f"tutti {' '.join(ascii(str(a))[1:-1] for a in arguments)}: {problem}")

    def run(self, *arguments, stdin=b""):
        arguments = [a if isinstance(a, bytes) else str(a) for a in arguments]
        self.calls += 1
        done = subprocess.run([str(self.program), *arguments], cwd=self.work, input=stdin, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        if done.returncode == 70 or done.returncode < 0:
            self.complain(arguments, f"exit code {done.returncode}: {done.stderr[-300:]!r}")
        for name, data in (("stdout", done.stdout), ("stderr", done.stderr)):
            if problem := complaint_about(data):
                self.complain(arguments, f"{name}: {problem}")
        return done

    def on_terminal(self, *arguments):
        """On a terminal our own colours and movements are there, and nothing else."""
        self.calls += 1
        ours, theirs = pty.openpty()
        process = subprocess.Popen([str(self.program), *map(str, arguments)], cwd=self.work, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        data = b""
        try:
            while chunk := os.read(ours, 65536):
                data += chunk
        except OSError:  # how Linux says that the other side has gone
            pass
        os.close(ours)
        process.wait(120)
        plain = re.sub(rb"\x1b\[(0|1|2|3[0-7])m|\x1b\[[KJ]|\r(\x1b\[\d+A)?", b"", data)
        if problem := complaint_about(plain):
            self.complain(arguments, f"terminal: {problem}")

    def check_file(self, path):
        if problem := complaint_about((self.work / path).read_bytes()):
            self.complain([path], f"the file: {problem}")


# --- The cases: one function for each kind of file ----------------------------------------------------------

INSTANCE = """{"tutti": 1, "name": "inst", "topology": {"generate": {"kind": "ring", "npus": 3, "latency_ns": 5, "bandwidth_GBps": 1}, "busy": "beta"},
  "groups": {"some": [0, 2]}, "forwarding": "any", "collectives": [{"id": "ag", "kind": "all_gather", "group": "some", "chunk_bytes": "1K"}]}"""
CUT_OFF = """{"tutti": 1, "name": "cut", "topology": {"npus": 3, "links": [{"src": 0, "dst": 1}]}, "groups": {"some": [0, 2]},
  "collectives": [{"id": "ag", "kind": "all_gather", "group": "some"}]}"""
MILD = MARKUP + TERMINAL[TERMINAL.index("\u009b"):]  # what a name may hold
FORMATS = ["json", "msccl-xml", "mscclpp-json", "sccl-json", "perfetto"]


def instances(run):
    for folder, base in (("instances", INSTANCE), ("cut", CUT_OFF)):
        files = run.put_all(folder, json_versions(base, [TERMINAL, MILD]), ".json")
        for i, file in enumerate(files):
            yield lambda file=file, i=i: (run.run("synth", file, "-o", "-"), run.run("bound", file, *["--json"][: i % 2]))
        yield lambda folder=folder: run.run("batch", folder, "-o", f"out-{folder}", "--time-limit", "1")
        yield lambda folder=folder: run.run("batch", folder, "-o", f"json-{folder}", "--json", "--method", "greedy")


def named_instance(run):
    """Names that are allowed to be there, through every command and format."""
    text = INSTANCE
    for old in ("inst", "some", "ag"):
        text = text.replace(f'"{old}"', json.dumps(MILD[:100] + old))
    file = run.put(text, ".json", "named/named.json")
    run.run("synth", file, "-o", "named.schedule.json")
    run.run("synth", file, "--json", "-o", "other.schedule.json")
    schedule = json.loads((run.work / "named.schedule.json").read_text())
    schedule["sends"] = schedule["sends"][:-1]
    broken = run.put(json.dumps(schedule), ".json")
    for arguments in (["verify", file, "named.schedule.json"], ["verify", file, broken], ["verify", file, broken, "--json"],
                      ["view", file, "named.schedule.json", "-o", "named.html"], ["view", file, broken], ["model", file],
                      ["model", file, "--format", "smt2"], ["model", file, "--format", "cpsat"], ["topology", file],
                      ["pareto", file, "--max-chunks", "1"], ["pareto", file, "--max-chunks", "1", "--json"],
                      *(["convert", file, "named.schedule.json", "--to", f, "-o", "-"] for f in FORMATS),
                      ["convert", file, "named.schedule.json", "-d", "plans"], ["verify", "plans"], ["verify", "plans", "--json"],
                      ["convert", file, broken, "-o", "-"]):
        yield lambda arguments=arguments: run.run(*arguments)
    yield lambda: run.on_terminal("synth", file, "-o", "terminal.schedule.json")
    yield lambda: run.on_terminal("verify", file, broken)


def schedules(run):
    ring = (TESTS / "cli/files/ring4.json").read_text()
    instance = run.put(ring, ".json")
    ours = '{"tutti_schedule": 1, "instance": "other", "makespan": 2, "sends": [{"chunk": 0, "link": 0, "start": 0, "op": "copy"}]}'
    symmetric = (TESTS / "cli/files/ring4-symmetric.json").read_text()
    files = run.put_all("schedules", [*json_versions(ours), *json_versions(symmetric)], ".json")
    stream = run.put((TESTS / "hostile/hostile.tsch").read_bytes(), ".tsch")
    for more in ([], ["--json"]):
        yield lambda more=more: run.run("verify", "--instance", instance, stream, *files, *more)
    for file in (files[0], files[-1], stream):
        yield lambda file=file: (run.run("view", file, instance), run.run("convert", instance, file, "-o", "-"))
    yield lambda: run.on_terminal("verify", "--instance", instance, stream, *files)


PLANS = {
    ".xml": ["cli/files/plans/pair.xml", "cli/files/plans/hangs.xml", "data/steps/forestcoll-ring4.xml"],
    ".json": ["data/mscclpp-json/dsl-tests/allreduce_naivy_2.json", "data/steps/Allgather.n4-Ring.n4-steps2.msccl.json", "data/steps/teccl-alltoall-excerpt.json",
              "data/steps/Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_taccl.sccl.json"],
    ".csv": ["data/steps/tacos-mesh3x3.csv"],
}


def plans(run):
    versions = {".xml": xml_versions, ".json": json_versions, ".csv": word_versions}
    network = '{"kind": "full", "npus": 9, "alpha": 1, "beta": 1}'
    for suffix, bases in PLANS.items():
        for base in bases:
            folder = f"plans-{pathlib.Path(base).stem[:20]}"
            files = run.put_all(folder, versions[suffix]((TESTS / base).read_text()), suffix)
            yield lambda folder=folder: run.run("verify", folder)
            yield lambda folder=folder: run.run("verify", folder, "--json")
            yield lambda files=files: run.run("verify", *files)
            yield lambda files=files: run.run("verify", *files, "--topology", network, "--target", "mscclpp")
            yield lambda files=files: run.on_terminal("verify", *files)


def conditions_and_networks(run):
    plan = run.put((TESTS / "cli/files/plans/next.xml").read_text(), ".xml")
    condition = (TESTS / "cli/files/plans/next.condition.json").read_text()
    for file in run.put_all("conditions", json_versions(condition), ".json"):
        yield lambda file=file: run.run("verify", plan, "--condition", file)
    topology = '{"npus": 2, "switches": [{"copy": true}], "busy": "beta", "links": [{"src": 0, "dst": 2, "alpha": 1, "beta": 2}]}'
    for suffix, contents in ((".json", json_versions(topology, [TERMINAL, MARKUP])),
                             (".yml", word_versions((TESTS / "cli/files/networks/switch.yml").read_text())),
                             (".xml", xml_versions((TESTS / "cli/files/networks/two-gpus.xml").read_text()))):
        for i, file in enumerate(run.put_all(f"networks{suffix}", contents, suffix)):
            yield lambda file=file, i=i: run.run("topology", file, *[[], ["--json"], ["--links"]][i % 3])


RESULT_FIELDS = {"options": {"tries": 3}, "solver_versions": {"cpsat": "9"}, "error": "an error", "failure": "time", "heuristic": "h", "bound_kind": "cut",
                 "proof": "why", "schedule": "schedules/x.json"}


def results(run):
    first = json.loads((TESTS / "cli/files/runs/old/results.jsonl").read_text().splitlines()[0])
    line = json.dumps({**first, **RESULT_FIELDS})
    run.put(line + "\n", "", "runs/good/results.jsonl")
    versions = list(json_versions(line, [TERMINAL, MARKUP]))
    for i, content in enumerate(versions):
        folder = f"runs/r{i}"
        run.put(content.replace(b"\n", b" ") + b"\n", "", f"{folder}/results.jsonl")
        yield lambda folder=folder: results_of(run, folder)
    # Lines that are read stand together, so that each way out is taken with all of them.
    readable = [v for v in versions if run.run("results", "show", "-", stdin=v + b"\n").returncode == 0]
    distinct = [json.dumps({**json.loads(v), "key": f"{json.loads(v).get('key')} {i}"}) for i, v in enumerate(readable)]
    run.put("\n".join(distinct) + "\n", "", "runs/all/results.jsonl")
    for more in ([], ["--json"], ["--csv"]):
        yield lambda more=more: run.run("results", "show", "runs/all", "runs/good", *more)
    yield lambda: run.run("results", "compare", "runs/all", "runs/good", "--by", "label")
    yield lambda: run.run("results", "compare", "runs/good", "runs/all", "--json")
    yield lambda: run.run("results", "merge", "runs/all", "runs/good", "-o", "merged")
    yield lambda: run.on_terminal("results", "show", "runs/all")
    yield lambda: check_csv(run)
    yield lambda: check_page(run, "runs/all")


def results_of(run, folder):
    run.run("results", "show", folder)
    run.run("results", "compare", "runs/good", folder)


def check_csv(run):
    text = run.run("results", "show", "runs/all", "runs/good", "--csv").stdout.decode()
    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) < 10 or len({len(row) for row in rows}) != 1:
        run.complain(["results", "show", "--csv"], "rows of different lengths, or none")
    for cell in itertools.chain.from_iterable(rows):
        if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", cell):
            run.complain(["results", "show", "--csv"], f"a formula: {cell[:60]!r}")


def check_page(run, folder):
    run.run("view", folder, "-o", "hostile.html")
    run.run("view", "runs/good", "-o", "good.html")
    page, good = ((run.work / name).read_text() for name in ("hostile.html", "good.html"))
    if page.count("<script") != good.count("<script") or page.count("<img") != good.count("<img"):
        run.complain(["view", folder], "tags of others in the page")
    data = re.search(r'<script id="tutti-data"[^>]*>(.*?)</script>', page, re.DOTALL).group(1)
    shown = set(strings_of(json.loads(data)))
    if problem := complaint_about(data.encode()) or next(filter(None, (complaint_about(s.encode()) for s in shown)), None):
        run.complain(["view", folder], f"the page's data: {problem}")
    if not any("alert(1)" in text for text in shown):
        run.complain(["view", folder], "the hostile names are not in the page: this test tests nothing")


def run_files(run):
    run.put((TESTS / "cli/files/ring4.json").read_text(), "", "few/ring4.json")
    base = '{"about": "x", "instances": ["few"], "methods": ["greedy"], "heuristics": ["symmetry"], "options": {"tries": 3}, "bytes": ["1K"], "shard": "0/1", "memory_limit": "1G"}'
    for i, file in enumerate(run.put_all("run-files", json_versions(base, [TERMINAL, MARKUP]), ".json")):
        yield lambda file=file, i=i: run.run("batch", "--run", file, "-o", f"out-run{i}")
        yield lambda file=file, i=i: (run.put((run.work / file).read_bytes(), "", f"resumed{i}/run.json"),
                                      run.run("batch", "--resume", "-o", f"resumed{i}"))
    for suffix, text in ((".solu", "=opt= ring4 2\n"), (".test", "few/ring4\n")):
        for i, content in enumerate(word_versions(text)):
            folder = f"known{suffix}{i}"
            run.put((TESTS / "cli/files/ring4.json").read_text(), "", f"{folder}/ring4.json")
            file = run.put(content, suffix, f"{folder}/{folder}{suffix}")
            yield lambda folder=folder, file=file, i=i: (run.run("batch", folder, "-o", f"out-{folder}", "--update-solu"),
                                                         run.run("batch", file, "-o", f"named-{folder}"))


FILE_NAMES = [f"x\n{FORGED}\n\x1b[8m\u009b\u202e", "=cmd|' C calc'!A0", "<img src=x onerror=alert(1)>", "-x", os.fsdecode(b"\xff\x9b8m")]


def file_names(run):
    ring = (TESTS / "cli/files/ring4.json").read_text()
    plan = (TESTS / "cli/files/plans/hangs.xml").read_text()
    for i, name in enumerate(FILE_NAMES):
        folder = f"odd{i}"
        instance, bad, xml = (run.put(content, "", f"{folder}/{name}/{name}{suffix}") for content, suffix in ((ring, ".json"), ("{", ".bad.json"), (plan, ".xml")))
        schedule = run.put('{"tutti_schedule": 1, "instance": "x", "makespan": 1, "sends": []}', "", f"{folder}/{name}/{name}.schedule")
        out = f"{folder}-out/{name}"
        for arguments in (["synth", instance, "-o", f"{folder}/{name}.out"], ["synth", bad], ["synth", bad, "--json"], ["bound", f"{instance}.none"], ["verify", xml, xml],
                          ["verify", f"{folder}/{name}"], ["verify", instance, schedule], ["verify", instance, schedule, "--json"], ["topology", bad],
                          ["convert", instance, schedule, "-o", f"{folder}/{name}.tsch"], ["results", "show", instance]):
            yield lambda arguments=arguments: run.run(*arguments)
        yield lambda folder=folder, out=out: (run.run("batch", folder, "-o", out), run.run("results", "show", out), run.run("results", "show", out, "--csv"),
                                              run.run("view", out), run.on_terminal("batch", folder, "-o", out),
                                              run.check_file(f"{out}/table.txt"), run.check_file(f"{out}/results.jsonl"))


def row_path(key):
    """Where the row of a task is: the name is the hash FNV-1a of its key."""
    digest = 0xCBF29CE484222325
    for byte in key.encode():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return f"tasks/{digest >> 56:02x}/{digest:016x}.json"


def listed_names(run):
    """Tasks of files with such names: a line each, which a shell takes apart into the words that --json gives."""
    ring = (TESTS / "cli/files/ring4.json").read_text()
    for i, name in enumerate(FILE_NAMES + ["x' y\"z", "$(touch pwned)", "a seed=2", "--help", "~"]):
        folder, out = f"listed{i}", f"out-listed{i}"
        for content, suffix in ((ring, ".json"), ("{", ".bad.json")):
            run.put(content, "", f"{folder}/{name}/{name}{suffix}")
        yield lambda folder=folder, out=out: run_listed(run, folder, out)


def run_listed(run, folder, out):
    lines = run.run("batch", folder, "-o", out, "--seeds", "1,2", "--list-tasks").stdout.decode().splitlines()
    objects = run.run("batch", folder, "-o", out, "--seeds", "1,2", "--list-tasks", "--json").stdout.decode().splitlines()
    if len(lines) != 4 or [shlex.split(line) for line in lines] != [json.loads(each)["command"] for each in objects]:
        run.complain(["batch", folder, "--list-tasks"], f"not four commands: {lines!r} {objects!r}")
    for line, more in itertools.product(lines, ([], ["--json"])):
        if run.run(*shlex.split(line)[1:], *more).returncode != 0:
            run.complain(shlex.split(line)[1:], "not done")
    run.run("results", "collect", out)
    run.check_file(f"{out}/results.jsonl")
    if len((run.work / out / "results.jsonl").read_text().splitlines()) != 4:
        run.complain(["results", "collect", out], "not four rows")


def prepared_tasks(run, folder):
    """A folder with a list, its text, and the row that a task left."""
    run.put((TESTS / "cli/files/ring4.json").read_text(), "", "family/ring4.json")
    run.run("batch", "family", "-o", folder, "--list-tasks", "--heuristic", "symmetry", "--option", "tries=3", "--seeds", ",".join(map(str, range(1, 200))))
    key = "family/ring4 heuristic=symmetry seed=2 tries=3"
    run.run("batch", "--task", key, "-o", folder)
    return (run.work / folder / "tasks/list").read_text(), key, json.loads((run.work / folder / row_path(key)).read_text())


def task_rows(run):
    """Rows that others have written: those of tasks of the run, and those of any other key."""
    _, key, row = prepared_tasks(run, "out-rows")
    row = {**RESULT_FIELDS, **row, "error": "an error", "failure": "limit"}
    for number, content in enumerate(json_versions(json.dumps(row)), 1):
        stray = json.loads(content)
        if isinstance(stray.get("key"), str):
            stray["key"] += f" {number}"
            run.put(json.dumps(stray), "", "out-rows/" + row_path(stray["key"]))
        if number < 200 and number != 2:
            ours = json.loads(content)
            ours.update({name: value for name, value in row.items() if name.startswith("asked") or name in ("digest", "options")})
            ours.update({"key": key.replace("seed=2", f"seed={number}").replace(" seed=1 ", " "), "seed": number})
            run.put(json.dumps(ours), "", "out-rows/" + row_path(ours["key"]))
    run.run("batch", "--task", key.replace("seed=2", "seed=3"), "-o", "out-rows")
    yield lambda: (run.run("results", "collect", "out-rows"), check_collected(run), run.run("batch", "--resume", "-o", "out-rows"),
                   run.run("results", "show", "out-rows"), run.run("results", "show", "out-rows", "--csv"), run.on_terminal("results", "collect", "out-rows"))


def check_collected(run):
    text = (run.work / "out-rows/results.jsonl").read_text()
    if text.count("alert(1)") < 20:
        run.complain(["results", "collect", "out-rows"], "the hostile rows were not collected: this test tests nothing")
    schedules = [json.loads(line)["schedule"] for line in text.splitlines()]
    if any(schedule and not os.path.normpath(schedule).startswith("out-rows/schedules/") for schedule in schedules):
        run.complain(["results", "collect", "out-rows"], "a schedule outside")


def task_lists(run):
    """Lists that others have written: whatever a line says of a task that it is found by."""
    text, key, _ = prepared_tasks(run, "out-list")
    lines = [line for line in text.splitlines() if '"settings"' in line or '"job"' in line or '" heuristic=symmetry seed=2 tries=3"' in line]
    versions = [(line, content) for line in lines for content in json_versions(line[17:])]
    for i, (line, content) in enumerate(versions):
        folder = f"out-list{i}"
        others = [other for other in lines if other != line]
        run.put("\n".join(sorted([*others, line[:17] + content.decode("utf-8", "surrogatepass").replace("\n", " ")])) + "\n", "", f"{folder}/tasks/list")
        yield lambda folder=folder: run.run("batch", "--task", key, "-o", folder)
    yield lambda: (run.run("batch", "--task", OUTSIDE, "-o", "out-list"), run.run("batch", f"--task={TERMINAL}", "-o", "out-list"))


def arguments(run):
    for poison in (TERMINAL, MARKUP):
        for line in ([poison], ["synth", f"--{poison}"], ["synth", "x", "--method", poison], ["synth", poison], ["synth", "x", f"-{poison}"],
                     ["verify", "x", "--group", poison], ["verify", "x", "--bytes", poison, "--topology", "y"], ["synth", "x", "--memory-limit", poison],
                     ["synth", "x", "--option", poison], ["topology", poison], ["topology", "ring", f"--{poison}", "3"], ["topology", f'{{"{poison}": 1}}'],
                     ["topology", "ring", "--npus", poison], ["help", poison], ["results", poison, "x"], ["batch", poison], ["batch", "x", "--shard", poison]):
            yield lambda line=line: run.run(*[word.replace("\x00", "") for word in line])


CASES = [instances, named_instance, schedules, plans, conditions_and_networks, results, run_files, file_names, listed_names, task_rows, task_lists,
         arguments]


def check_outside(run):
    """Nothing may have been written but below the folder of work, and no name there is of others' making."""
    for path in run.scratch.rglob("*"):
        if run.work not in path.parents and path != run.work and path not in run.work.parents:
            run.problems.append(f"written outside: {path}")
    for folder in run.work.glob("out-*"):
        for path in folder.rglob("*"):
            if problem := complaint_about(os.fsencode(path.name)):
                run.problems.append(f"the name of a file below {folder.name}: {problem}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutti-hostile-") as scratch:
        run = Runner(options.program.resolve(), pathlib.Path(scratch))
        calls = [call for case in CASES if options.only in case.__name__ for call in case(run)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda call: call(), calls))
        check_outside(run)
    for problem in run.problems[:40]:
        print(problem)
    print(f"{run.calls} calls, {len(run.problems)} problems")
    return 1 if run.problems or run.calls == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
