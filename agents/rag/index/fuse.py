"""Joins rankings that have no common scale, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence

RANK_CONSTANT = 10
"""Damps the lead of first places. 60 is the literature's value for pooling many systems; with two
rankings a smaller one does better here, measured by `python -m tests.eval.retrieval`."""


def fuse(rankings: Sequence[Sequence[int]], weights: Sequence[float]) -> list[tuple[int, float]]:
    """Ids by the weighted sum of 1 / (constant + rank), best first, scaled so that 1 is first everywhere.

    Args:
        rankings: Ids, best first, one sequence a ranking; an empty one does not count.
        weights: Weight of each ranking.
    """
    voting = [(ranking, weight) for ranking, weight in zip(rankings, weights, strict=True) if ranking]
    scores: dict[int, float] = {}
    for ranking, weight in voting:
        for rank, id_ in enumerate(ranking):
            scores[id_] = scores.get(id_, 0.0) + weight / (RANK_CONSTANT + rank)
    best = sum(weight for _, weight in voting) / RANK_CONSTANT
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [(id_, score / best) for id_, score in ordered]
