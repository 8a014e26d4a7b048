"""What kind a request is, by the network of kinds."""

import numpy as np
import pytest

from tests.eval import routing
from tests.eval.kinds.__main__ import as_text, joined, learn, measured, written
from utils.embeddings.minilm import MiniLmEmbedder
from utils.llm.offline import kinds
from utils.llm.offline.kinds import RequestKind, kinds_of
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.smalltalk import Talk, talk_of

FEW = 5
"""Words of a sentence that two people may well write alike: "address already in use :8000"."""


@pytest.fixture(scope="module")
def embedder():
    return routing.model().embedder


def _told(text, embedder):
    shares = kinds_of(text, embedder)
    return max(shares, key=lambda kind: shares[kind])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which folder holds the conversations after a reboot?", RequestKind.DOCUMENTS),
        ("how would one shut the merge button off for the agent", RequestKind.DOCUMENTS),
        ("anything red on acme/rocket since lunch", RequestKind.GITHUB),
        ("which labels does #12 of acme/rocket carry", RequestKind.GITHUB),
        ("acme/rocket #12 can go, shut it please", RequestKind.CHANGE),
        ("stick a thumbs up on pull request 9 of acme/rocket", RequestKind.CHANGE),
        ("book a flight to Oslo for the two of us", RequestKind.OUTSIDE),
        ("cheers, you made my evening", RequestKind.TALK),
    ],
)
def test_a_request_is_told_by_what_it_means(embedder, text, kind):
    assert _told(text, embedder) is kind


@pytest.mark.parametrize(
    ("said", "talk"),
    [
        ("Good morning! I'll be trying you out for the next two weeks, nice to meet you :)", Talk.GREETING),
        ("hi, gotta run, bye", Talk.BYE),
        ("morning! you're the one I took over from Jens, right? nice to meet you :)", Talk.GREETING),
    ],
)
def test_who_greets_and_says_no_goodbye_is_greeted(embedder, said, talk):
    assert talk_of(said, Similarity(embedder)) is talk


def learnt() -> set[str]:
    """The sentences that are learnt from, without the shortest, which anybody may say."""
    return {text.casefold() for text, _ in written() if len(text.split()) > FEW}


@pytest.mark.long
def test_of_the_blind_sets_that_were_not_learnt_from_nineteen_questions_in_twenty_are_told_right(embedder):
    known = learnt()
    told = [_told(text, embedder) is kind for _, text, kind in measured() if text.casefold() not in known]
    assert sum(told) >= 0.95 * len(told)


def test_no_more_than_one_question_in_a_thousand_of_the_blind_sets_is_by_chance_a_sentence_that_is_learnt_from():
    known, asked = learnt(), [text.casefold() for _, text, _ in measured()]
    assert sum(text in known for text in asked) <= len(asked) / 1000


def test_shares_add_up_to_one_and_are_none_for_vectors_of_another_model(embedder):
    class Other(MiniLmEmbedder):
        name = "another"

    assert sum(kinds_of("How do I upgrade?", embedder).values()) == pytest.approx(1)
    assert kinds_of("How do I upgrade?", Other()) == kinds_of("How do I upgrade?", None) == {}
    assert kinds_of(" \n", embedder) == {}


def test_what_is_learnt_is_read_back_from_its_text(tmp_path, monkeypatch, embedder):
    random = np.random.default_rng(3)
    wanted = [list(RequestKind)[at % 5] for at in range(200)]
    inputs = random.normal(size=(200, 389)) + [
        [10.0 * (column == at % 5) for column in range(389)] for at in range(200)
    ]
    path = tmp_path / "weights.txt"
    path.write_text(as_text(joined([learn(inputs, wanted, seed) for seed in (0, 1)])))
    monkeypatch.setattr(kinds, "WEIGHTS", path)
    monkeypatch.setattr(kinds, "features", lambda texts, _: inputs[[int(text) for text in texts]])
    kinds._weights.cache_clear()
    try:
        assert [_told(str(at), embedder) for at in range(20)] == wanted[:20]
    finally:
        kinds._weights.cache_clear()
