"""Importing as a whole: over both stores, beside a second importer, in bounded memory, and the benchmark of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from benchmarks import ingest
from benchmarks.transcripts import write_corpus
from tests.harvest.harvesting import FIXTURES, NOW, everything, line, make_deps

from flywheel.harvest import worker
from flywheel.harvest.discover import locate, sweep
from flywheel.jobs import queue
from flywheel.jobs.worker import run_one
from flywheel.model import FileState, Message, Session, TranscriptFile
from flywheel.store import Db, mapper


def run_jobs(db: Db, data: Path, owner: str = "test") -> None:
    """Run every harvest job that is due."""
    while job := queue.claim(db, kinds=[worker.KIND], owner=owner, lease=60):
        run_one(job, worker.run, make_deps(db, data))


def test_a_users_history_comes_in_once(db: Db, data: Path) -> None:
    """On either store: found, enqueued, read, written, followed up; and again, with nothing to show for it."""
    sweep(db, locate(str(FIXTURES)), NOW)
    run_jobs(db, data)
    with db.read() as tx:
        files = mapper.find(tx, TranscriptFile)
        sessions = mapper.find(tx, Session)
        messages = mapper.find(tx, Message)
        failed = tx.all("SELECT key, error FROM job WHERE error <> ''")
    assert failed == []
    assert {file.state for file in files} == {FileState.PARSED}
    assert (len(files), len(sessions), len(messages)) == (7, 8, 53)
    assert sum(session.messages for session in sessions) == len(messages)
    before = everything(db)
    with db.write() as tx:
        tx.run("UPDATE transcript_file SET inode = 0")
    sweep(db, locate(str(FIXTURES)), NOW)
    run_jobs(db, data)
    assert everything(db) == before


def test_two_importers_of_one_history(db: Db, data: Path) -> None:
    """Two workers that take jobs from one queue bring in the same as one: no message twice, none missing."""
    sweep(db, locate(str(FIXTURES)), NOW)
    workers = [threading.Thread(target=run_jobs, args=(db, data, name)) for name in ("one", "two")]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    with db.read() as tx:
        ids = [message.id for message in mapper.find(tx, Message)]
        failed = tx.all("SELECT key, error FROM job WHERE error <> ''")
        counted = tx.all("SELECT SUM(messages) FROM session")
    assert failed == []
    assert len(ids) == len(set(ids)) == 53
    assert counted == [(53,)]


IMPORTER = """
import sys
from pathlib import Path
from flywheel.config import Config
from flywheel.harvest import worker
from flywheel.jobs.worker import Deps
from flywheel.model import Job, Micros
from flywheel.store.connect import connect
from flywheel.text.redact import Redactor
path, data, now = sys.argv[1], Path(sys.argv[2]), Micros(int(sys.argv[3]))
db = connect("sqlite", data)
deps = Deps(db=db, config=Config(), data=data, redact=Redactor(), now=lambda: now, stopping=lambda: False,
            beat=lambda doing: None)
job = Job(id="j", kind="harvest", key=path, project_id=None, payload={"agent": "claude"}, run_after=now,
          created_at=now, updated_at=now)
worker.run(job, deps)
with db.read() as tx:
    print(tx.one("SELECT COUNT(*) FROM message")[0], tx.one("SELECT bad_lines FROM transcript_file")[0])
db.close()
line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss counts our parent's
print(int(line.split()[1]) * 1024)
"""


def write_giant(path: Path) -> None:
    """Lines of 500 MB (a hole), of 60 MB in one string, and of 66 MB, among ordinary ones."""
    with path.open("wb") as file:
        file.write(line("n1") + b'{"type":"progress","uuid":"x","data":"')
        file.seek(500_000_000, os.SEEK_CUR)
        file.write(b'"}\n' + line("n2"))
        opening, closing = line("n3", "SPLIT").split(b"SPLIT")
        for size in (30_000_000, 33_000_000):
            file.write(opening)
            for _ in range(size // 1_000_000):
                file.write(b"wo " * 333_333 + "\U0001f600".encode())
                file.write(b"rd " * 333_333 + "é".encode())
            file.write(closing)
        file.write(line("n4"))


def test_gigantic_lines_stay_within_memory(tmp_path: Path) -> None:
    """Whatever the file, the importing process stays below 300 MB, and every line around the giants is read."""
    path = tmp_path / "12345678-1234-4234-8234-123456789012.jsonl"
    write_giant(path)
    (tmp_path / "data").mkdir(mode=0o700)
    command = [sys.executable, "-c", IMPORTER, str(path), str(tmp_path / "data"), str(NOW)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts, peak = done.stdout.splitlines()
    assert counts == "4 1"
    assert int(peak) < 300_000_000


def test_the_corpus_has_the_shape_of_real_transcripts(tmp_path: Path) -> None:
    """About 3.5 kB a line, 15 % of the bytes message text, 70 % of that tool output; the same seed, the same bytes."""
    corpus = write_corpus(tmp_path / "one", ["/w/a"], 6000)
    assert corpus.bytes / corpus.lines == pytest.approx(3500, rel=0.1)
    assert corpus.message_share == pytest.approx(0.15, abs=0.015)
    assert corpus.output_share == pytest.approx(0.70, abs=0.03)
    write_corpus(tmp_path / "two", ["/w/a"], 6000)
    pairs = zip(sorted((tmp_path / "one").rglob("*.jsonl")), sorted((tmp_path / "two").rglob("*.jsonl")), strict=True)
    assert all(one.read_bytes() == two.read_bytes() for one, two in pairs)
    first = next((tmp_path / "one").rglob("*.jsonl")).read_bytes().split(b"\n")[0]
    assert json.loads(first)["type"] == "queue-operation"


def test_the_benchmark_runs() -> None:
    """Small, but whole: both processes, the indexes caught up, every key of the answer there."""
    answer = ingest.run(None, 800)
    assert set(answer["results"]) >= {"mb_per_s", "ratio", "peak_mb"}
    assert answer["results"]["mb_per_s"] > 0
    assert answer["n"] >= 800
