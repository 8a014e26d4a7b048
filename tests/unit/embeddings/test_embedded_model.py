"""The embedded model, as it runs."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from utils.embeddings import create_embedder
from utils.embeddings.minilm import MiniLmEmbedder
from utils.settings import EmbeddingSettings


@pytest.fixture(scope="module")
def model():
    return MiniLmEmbedder()


def test_texts_that_mean_the_same_are_closer_than_texts_that_do_not(model):
    near, question, far = model.embed_sync(
        [
            "Show the pull requests that are open",
            "Which pull requests have not been merged?",
            "Bake a chocolate cake",
        ]
    )
    assert near @ question > 0.5
    assert far @ question < 0.2


def test_vectors_have_length_one_and_the_announced_dimensions(model):
    vectors = model.embed_sync(["a", "a longer text about retries", ""])
    assert vectors.shape == (3, model.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_batch_gives_the_same_vectors_as_one_text_at_a_time_in_the_callers_order(model):
    texts = ["word " * (1 + (n * 7) % 23) + str(n) for n in range(40)]
    together = model.embed_sync(texts)
    alone = np.concatenate([model.embed_sync([text]) for text in texts])
    assert np.min(np.sum(together * alone, axis=1)) > 0.98


def test_text_after_the_256th_token_does_not_matter(model):
    start = "release notes " * 200
    first, second = model.embed_sync([start + "about cats", start + "about submarines"])
    assert first @ second == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_vectors(model):
    assert model.embed_sync([]).shape == (0, 384)


async def test_other_work_gets_a_thread_while_texts_wait_for_their_turn(model, monkeypatch):
    threads, may_go_on = ThreadPoolExecutor(2), threading.Event()
    asyncio.get_running_loop().set_default_executor(threads)
    original = model._run

    def held(encoding):
        assert may_go_on.wait(60)
        return original(encoding)

    monkeypatch.setattr(model, "_run", held)
    embedding = [asyncio.create_task(model.embed([f"text {number}"])) for number in range(4)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(60):
            assert await asyncio.to_thread(lambda: "done") == "done"
    finally:
        may_go_on.set()
    assert [vectors.shape for vectors in await asyncio.gather(*embedding)] == [(1, 384)] * 4


async def test_embedding_leaves_the_event_loop_free(model):
    threads = []
    original = model.embed_sync

    def watched(texts):
        threads.append(threading.current_thread())
        return original(texts)

    model.embed_sync = watched
    try:
        await asyncio.gather(model.embed(["one"]), model.embed(["two"]))
    finally:
        del model.embed_sync
    assert threading.main_thread() not in threads
    assert len(threads) == 2


def test_the_default_settings_give_the_embedded_model_and_none_gives_none():
    default = create_embedder(EmbeddingSettings.load({}), cache=None)
    assert default is not None
    assert default.name == MiniLmEmbedder.name
    assert create_embedder(EmbeddingSettings.load({"EMBEDDINGS_PROVIDER": "none"}), cache=None) is None
