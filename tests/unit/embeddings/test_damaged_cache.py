"""The file of known vectors: damaged rows, a damaged file, a full one."""

import sqlite3
import sys
from contextlib import closing

import numpy as np
import pytest
from structlog.testing import capture_logs

from tests.unit.embeddings.test_cache import Counting
from utils.embeddings.cache import CachedEmbedder
from utils.embeddings.store import DAY, VectorStore
from utils.encryption.codec import Codec

FILE = "embeddings.sqlite"


@pytest.fixture
def model():
    return Counting()


@pytest.fixture
def file(tmp_path):
    return tmp_path / FILE


def change(file, statement, *values):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


def unit(number, length=4):
    vector = np.zeros(length, dtype=np.float32)
    vector[number % length] = 1
    return vector


@pytest.mark.parametrize(
    "damaged",
    [b"x" * 1001, b"x" * 1000, b"", b"\x00" * 1537, b"\xff" * 1536, "text", 12],
    ids=["odd", "short", "empty", "long", "no numbers", "text", "number"],
)
async def test_a_damaged_row_is_made_anew_and_stays_so(model, tmp_path, file, damaged):
    right = CachedEmbedder(model, tmp_path).embed_sync(["alpha"])
    change(file, "UPDATE vectors SET vector = ?", damaged)
    with capture_logs() as logs:
        again = await CachedEmbedder(model, tmp_path).embed(["alpha", "beta"])
    assert np.array_equal(again[0], right[0])
    assert [entry["event"] for entry in logs] == ["embeddings.rows_damaged"]
    CachedEmbedder(model, tmp_path).embed_sync(["alpha", "beta"])
    assert model.asked == ["alpha", "alpha", "beta"]


def test_a_damaged_row_of_an_encrypted_file_is_made_anew(model, tmp_path, file):
    codec = Codec(["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="])
    right = CachedEmbedder(model, tmp_path, codec=codec).embed_sync(["alpha"])
    change(file, "UPDATE vectors SET vector = substr(vector, 1, 1000)")
    for _ in range(2):
        assert np.array_equal(CachedEmbedder(model, tmp_path, codec=codec).embed_sync(["alpha"]), right)
    assert model.asked == ["alpha", "alpha"]


def test_vectors_of_a_model_that_got_another_length_are_made_anew(model, tmp_path, file):
    CachedEmbedder(model, tmp_path).embed_sync(["alpha", "beta"])
    change(file, "UPDATE vectors SET vector = ?", unit(1, 5).tobytes())
    cached = CachedEmbedder(model, tmp_path)
    assert cached.embed_sync(["alpha", "gamma"]).shape == (2, 384)
    assert cached.embed_sync(["alpha", "gamma", "delta"]).shape == (3, 384)


def test_a_file_that_is_no_database_is_told_once_and_begun_anew(model, tmp_path, file):
    file.write_bytes(b"not a database at all" * 100)
    with capture_logs() as logs:
        cached = CachedEmbedder(model, tmp_path)
        cached.embed_sync(["alpha"])
        cached.embed_sync(["beta"])
    assert [(entry["event"], entry["reason"]) for entry in logs] == [
        ("embeddings.cache_failed", "SQLITE_NOTADB")
    ]
    CachedEmbedder(model, tmp_path).embed_sync(["alpha", "beta"])
    assert model.asked == ["alpha", "beta"]


def test_a_file_whose_pages_are_damaged_heals(model, tmp_path, file):
    CachedEmbedder(model, tmp_path).embed_sync([f"text {number}" for number in range(40)])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    model.asked.clear()
    for _ in range(2):
        assert CachedEmbedder(model, tmp_path).embed_sync(["text 1"]).shape == (1, 384)
    assert model.asked == ["text 1"]


def test_a_folder_that_cannot_be_made_is_told_once(model, tmp_path):
    (tmp_path / "taken").write_text("a file")
    cached = CachedEmbedder(model, tmp_path / "taken", in_memory=0)
    with capture_logs() as logs:
        for _ in range(3):
            assert cached.embed_sync(["alpha"]).shape == (1, 384)
    assert [entry["event"] for entry in logs] == ["embeddings.cache_failed"]


def test_a_full_file_loses_what_was_used_longest_ago(file):
    now = 0
    store = VectorStore(file, "model", largest=300_000, clock=lambda: now)
    keys = [number.to_bytes(4, "big") for number in range(3000)]
    store.write({key: unit(1, 8) for key in keys[:10]})
    now = DAY
    store.write({key: unit(2, 8) for key in keys[10:20]})
    now = 2 * DAY
    assert len(store.read(keys[:5])) == 5
    for start in range(20, 3000, 20):
        now += DAY
        store.write({key: unit(3, 384) for key in keys[start : start + 20]})
        assert len(store.read(keys[:5])) == 5
        assert file.stat().st_size < 600_000
    assert store.read(keys[5:20]) == {}
    assert len(store.read(keys[-20:])) == 20


def test_the_file_of_an_earlier_version_is_used_on(model, tmp_path, file):
    CachedEmbedder(model, tmp_path).embed_sync(["alpha"])
    change(file, "ALTER TABLE vectors DROP COLUMN used")
    for _ in range(2):
        CachedEmbedder(model, tmp_path).embed_sync(["alpha", "beta"])
    assert model.asked == ["alpha", "beta"]


def test_reads_share_one_connection(model, tmp_path, file):
    cached = CachedEmbedder(model, tmp_path, in_memory=0)
    cached.embed_sync(["alpha"])
    opened: list[object] = []

    def watch(event, arguments):
        if event == "sqlite3.connect" and watching:
            opened.append(arguments)

    watching = True
    sys.addaudithook(watch)
    for _ in range(3):
        cached.embed_sync(["alpha"])
    watching = False
    assert opened == []
