"""A long text is summarised in pieces that fit the summariser's window by their tokens, whatever they are written in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.conversations import COUNTER, RecordingSummariser, long_talk
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import standard
from utils.context.strategies.summarise import split, summarise
from utils.context.summarisers.condense import condense
from utils.errors import ContentFiltered, InvalidRequest, ModelFailure, ModelUnavailable
from utils.messages.counter import MessageCounter

WRITTEN = {
    "English": "The service was restarted, and is fine again.\n",
    "Amharic": "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው። ",
    "Cherokee": "ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ ",
    "emoji": "🦖🪿🫠🧑‍🚀🪩🫡 ",
    "rare Chinese": "𠮷𠀋𡈽𡌛𡑮𡢽",
    "cuneiform": "𒀀𒁀𒂀𒃀𒄀",
    "halves of characters": "\ud800x",
}
ROOM = 1_000

each_writing = pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)


class CountedCounter(MessageCounter):
    """Remembers how many characters it was given."""

    characters = 0

    def text(self, text: str) -> int:
        self.characters += len(text)
        return super().text(text)


@each_writing
@pytest.mark.parametrize("length", [ROOM // 3, ROOM, 30 * ROOM])
def test_every_piece_fits_by_its_tokens_and_nothing_is_lost(written: str, length: int) -> None:
    text = (written * length)[:length]
    pieces = split(text, ROOM, COUNTER)
    assert "".join(pieces) == text
    assert max(map(COUNTER.text, pieces)) <= ROOM
    assert all(COUNTER.text(piece) > ROOM / 2 for piece in pieces[:-1]), "no piece more than there must be"


def test_each_character_is_counted_once_however_long_the_text_is() -> None:
    for length in (10_000, 400_000):
        counter = CountedCounter()
        split((WRITTEN["Amharic"] * length)[:length], ROOM, counter)
        assert counter.characters == length


def test_pieces_end_with_a_line_where_one_is_near() -> None:
    assert all(piece.endswith("\n") for piece in split(WRITTEN["English"] * 1_000, ROOM, COUNTER))
    assert split("", ROOM, COUNTER) == [""]


@each_writing
async def test_no_request_for_a_summary_is_larger_than_the_window(written: str) -> None:
    writer = RecordingSummariser(window=4_000)
    await summarise(written * (9_000 // len(written)), "", 500, writer, COUNTER)
    assert max(map(COUNTER.text, writer.given)) <= writer.window


@each_writing
def test_an_extract_of_a_short_text_fits_by_its_tokens_too(written: str) -> None:
    text = (written * 100)[:100]
    assert COUNTER.text(condense(text, 100, COUNTER)) <= 100


class Refusing(RecordingSummariser):
    """A summariser whose model fails at one part of the conversation."""

    def __init__(self, failure: ModelFailure) -> None:
        super().__init__()
        self._failure = failure

    async def _answer_to(self, text: str) -> str:
        answer = await super()._answer_to(text)
        if "Question 3 about" in text:
            raise self._failure
        return answer


@pytest.mark.parametrize(
    ("failure", "times"),
    [(InvalidRequest("No."), 1), (ContentFiltered("No."), 1), (ModelUnavailable("Down."), 2)],
)
async def test_a_text_that_the_provider_refuses_is_not_sent_again_with_every_summary(
    failure: ModelFailure, times: int
) -> None:
    writer, policy, parts = Refusing(failure), standard(8_000), Parts(COUNTER)
    first = await prepare(Request(long_talk(150)), policy, replace(parts, summariser=writer))
    assert [step.failed for step in first.report.steps if step.strategy == "summarise"] == [1]
    grown = Request(long_talk(300))
    await prepare(grown, policy, replace(parts, summariser=writer), first.compaction)
    assert sum("Question 3 about" in text for text in writer.given) == times
