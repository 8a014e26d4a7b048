"""What is kept and what is found is the same in every process, so that a restart changes no request."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_LOOK = """
from utils.context.search import bm25
from utils.context.summarisers.condense import condense
from utils.context.summarisers.extractive import extract
from utils.messages.counter import MessageCounter

# Each sentence has one word of its own and words that 2, 3, 5, 7 and 11 of them share: no one says more than another.
shares = (1, 2, 3, 5, 7, 11)
sentences = [" ".join(f"{'abcdef'[n]}word{i // share}" for n, share in enumerate(shares)) + "." for i in range(2310)]
text, counter = "\\n".join(f"User: {sentence}" for sentence in sentences), MessageCounter()
print(extract(text, 400, counter))
print(condense(text, 400, counter))
print(bm25(" ".join(sentences[:400]), sentences, 60))
"""


def seen_with(hash_seed: str) -> str:
    environ = os.environ | {"PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-c", _LOOK]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.processes
@pytest.mark.long
def test_extracts_and_searches_do_not_depend_on_the_hashes_of_a_process() -> None:
    first, *others = [seen_with(seed) for seed in ("1", "2", "3")]
    assert first.count("\n") > 10
    assert others == [first, first]
