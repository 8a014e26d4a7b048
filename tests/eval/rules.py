"""How well standing rules are found without a model, in each language.

    python -m tests.eval.rules [FILE]

The file has, for each language, sentences that state a rule for the whole conversation, and sentences that do not, near
misses among them. *Precision* is the share of rules among what was found, *recall* the share of the rules that were found.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from utils.context.constraints import detect

FILE = Path(__file__).with_name("rules.yaml")
PRECISION, RECALL = 0.9, 0.7


@dataclass(frozen=True)
class Score:
    """What was found of one language's sentences."""

    found: int
    missed: Sequence[str]
    wrong: Sequence[str]

    @property
    def precision(self) -> float:
        """Share of rules among what was found."""
        return self.found / max(1, self.found + len(self.wrong))

    @property
    def recall(self) -> float:
        """Share of the rules that were found."""
        return self.found / max(1, self.found + len(self.missed))


def score(rules: Sequence[str], others: Sequence[str]) -> Score:
    """What is found of these sentences."""
    missed = [sentence for sentence in rules if not detect(sentence)[0]]
    wrong = [sentence for sentence in others if detect(sentence)[0]]
    return Score(len(rules) - len(missed), missed, wrong)


def scores(path: Path = FILE) -> Mapping[str, Score]:
    """The score of each language of a file."""
    data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return {language: score(each["rules"], each["others"]) for language, each in data.items()}


def main(arguments: Sequence[str]) -> int:
    """Print the scores; 1 where a language misses its mark."""
    path, enough = Path(arguments[0]) if arguments else FILE, True
    for language, each in scores(path).items():
        print(
            f"{language}: precision {each.precision:.2f}, recall {each.recall:.2f} ({each.found} found, {len(each.missed)} "
            f"missed, {len(each.wrong)} wrong)"
        )
        for sentence in each.missed:
            print(f"    missed: {sentence}")
        for sentence in each.wrong:
            print(f"    wrong: {sentence}")
        enough = enough and each.precision >= PRECISION and each.recall >= RECALL
    return 0 if enough else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
