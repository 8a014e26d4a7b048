"""`python -m tests.eval.kinds`: learn the weights of `utils.llm.offline.kinds` and print how they do on the blind sets.

Learnt from are the sentences beside this file, a part of the questions that the documents answer (`agents/rag/ingest/questions.yaml`) and
the examples of GitHub's tools. The blind sets are not. `--only-print` leaves the weights as they are.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.rag.ingest.questions import read_questions
from tests.eval.blind.question import read_set
from tests.eval.routing_tools import tools_of
from utils.embeddings import Embedder, create_embedder
from utils.llm.offline.kinds import WEIGHTS, RequestKind, features, kinds_of
from utils.settings import EmbeddingSettings

HERE = Path(__file__).parent
SETS = HERE.parent / "sets"
QUESTIONS = 800
"""Questions of the documents that are learnt from: all of them would outnumber the sentences."""
HIDDEN = 32
"""Hidden units of one network."""
NETWORKS = 3
"""Networks from different beginnings, whose scores are added up: their mistakes differ."""
ROUNDS = 60
BATCH = 64
RATE = 3e-3
DECAY = 1e-3
DROPPED = 0.2
"""Share of hidden units that are left out of a step, so that none is relied on."""
SMOOTH = 0.05
"""Share of a label that the other kinds have: some sentences are labelled wrong."""

Floats = NDArray[np.float64]
Labelled = tuple[str, RequestKind]


def sentences() -> list[Labelled]:
    """What is learnt from."""
    return [*written(), *random.Random(1).sample(_questions(), QUESTIONS), *_examples()]


def written() -> list[Labelled]:
    """The sentences beside this file."""
    lines = (line for path in sorted(HERE.glob("*.tsv")) for line in path.read_text("utf-8").splitlines())
    return [(text, RequestKind(kind)) for kind, _, text in (line.partition("\t") for line in lines)]


def measured() -> Iterator[tuple[str, str, RequestKind]]:
    """The questions of the blind sets that are of one kind, with their ids."""
    known = {kind.value for kind in RequestKind}
    for path in sorted(SETS.glob("set*.yaml")):
        if path.stem.count(".") == 0:
            for each in read_set(path):
                if each.kind in known and len(each.turns) == 1:
                    yield each.id, each.turns[0], RequestKind(each.kind)


def _questions() -> list[Labelled]:
    pages = read_questions().values()
    return [(text, RequestKind.DOCUMENTS) for page in pages for asked in page.values() for text in asked]


def _examples() -> list[Labelled]:
    return [
        (text, RequestKind.CHANGE if (tool.metadata or {}).get("changes") else RequestKind.GITHUB)
        for tool in tools_of("github")
        for text in (tool.metadata or {}).get("examples", [])
    ]


def learn(inputs: Floats, kinds: Sequence[RequestKind], seed: int) -> list[Floats]:
    """One network: the matrix and offsets of its hidden layer and of its output. Adam with decoupled decay."""
    random_ = np.random.default_rng(seed)
    wanted = np.eye(len(RequestKind))[[list(RequestKind).index(kind) for kind in kinds]]
    wanted = wanted * (1 - SMOOTH) + SMOOTH / len(RequestKind)
    width = inputs.shape[1]
    weights = [
        random_.normal(0, 3 / np.sqrt(width), (width, HIDDEN)),
        np.zeros(HIDDEN),
        random_.normal(0, 0.3, (HIDDEN, len(RequestKind))),
        np.zeros(len(RequestKind)),
    ]
    means, squares = ([np.zeros_like(each) for each in weights] for _ in range(2))
    step = 0
    for _ in range(ROUNDS):
        order = random_.permutation(len(inputs))
        for start in range(0, len(inputs), BATCH):
            step += 1
            chosen = order[start : start + BATCH]
            kept = (random_.random((len(chosen), HIDDEN)) > DROPPED) / (1 - DROPPED)
            for at, slope in enumerate(_slopes(weights, inputs[chosen], wanted[chosen], kept)):
                means[at] = 0.9 * means[at] + 0.1 * slope
                squares[at] = 0.999 * squares[at] + 0.001 * slope**2
                spread = np.sqrt(squares[at] / (1 - 0.999**step)) + 1e-8
                weights[at] -= RATE * (means[at] / (1 - 0.9**step) / spread + DECAY * weights[at])
    return weights


def _slopes(weights: Sequence[Floats], inputs: Floats, wanted: Floats, kept: Floats) -> list[Floats]:
    """Of the cross entropy by each of the weights."""
    first, first_bias, second, second_bias = weights
    before = inputs @ first + first_bias
    hidden = np.maximum(before, 0) * kept
    scores = hidden @ second + second_bias
    shares = np.exp(scores - scores.max(1, keepdims=True))
    wrong = (shares / shares.sum(1, keepdims=True) - wanted) / len(inputs)
    behind = wrong @ second.T * kept * (before > 0)
    return [inputs.T @ behind, behind.sum(0), hidden.T @ wrong, wrong.sum(0)]


def joined(networks: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Several networks as a single one whose scores are the mean of theirs."""
    first, first_bias, second, second_bias = zip(*networks, strict=True)
    mean = 1 / len(networks)
    return [np.hstack(first), np.hstack(first_bias), mean * np.vstack(second), mean * sum(second_bias)]


def as_text(weights: Sequence[Floats]) -> str:
    """What `utils.llm.offline.kinds` reads: each matrix in whole numbers from -127 to 127."""
    parts = []
    for each in weights:
        unit = float(np.abs(each).max()) / 127 or 1.0
        rows = np.rint(np.atleast_2d(each) / unit).astype(int).tolist()
        parts.append("\n".join([f"{unit:.6g}", *(" ".join(map(str, row)) for row in rows)]))
    return "\n\n".join(parts) + "\n"


def report(embedder: Embedder | None) -> str:
    """How many of each kind are told right, and which are not."""
    right: dict[RequestKind, list[bool]] = {kind: [] for kind in RequestKind}
    wrong = []
    for id_, text, kind in measured():
        shares = kinds_of(text, embedder)
        told = max(shares, key=lambda each: shares[each])
        right[kind].append(told is kind)
        if told is not kind:
            wrong.append(f"  {id_} {kind.value} as {told.value} {shares[told]:.2f}: {text[:90]}")
    counts = [f"{kind.value}: {sum(each)} of {len(each)}" for kind, each in right.items()]
    return "\n".join([*wrong, *counts])


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.kinds", description=__doc__)
    parser.add_argument("--only-print", action="store_true", help="print how the weights of today do")
    options = parser.parse_args(arguments)
    embedder = create_embedder(EmbeddingSettings.load({}), cache=None)
    if not options.only_print:
        assert embedder is not None
        learnt = sentences()
        inputs = features([text for text, _ in learnt], embedder).astype(np.float64)
        kinds = [kind for _, kind in learnt]
        WEIGHTS.write_text(as_text(joined([learn(inputs, kinds, seed) for seed in range(NETWORKS)])), "utf-8")
    sys.stdout.write(f"{report(embedder)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
