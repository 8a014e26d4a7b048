"""Who writes summaries, and what stands in where LangMem is not there."""

from __future__ import annotations

import sys
from copy import deepcopy

import pytest
from structlog.testing import capture_logs

from tests.unit.context.conversations import COUNTER, RecordingSummariser, calls, long_talk, result
from tests.unit.context.test_compress_hook import articles
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import rag, standard
from utils.context.summarisers.langmem import LangMemSummariser
from utils.errors import ModelFailure
from utils.testing.scripted_model import ScriptedModel


def langmem(model: ScriptedModel) -> LangMemSummariser:
    return LangMemSummariser(model, COUNTER, window=100_000)


async def test_where_langmem_cannot_be_imported_an_extract_stands_in_and_nothing_crashes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "langmem.short_term", None)
    model = ScriptedModel.of("never asked")
    with pytest.raises(ModelFailure):
        await langmem(model).summarise("They spoke.", previous="", max_tokens=100)
    done = await prepare(Request(long_talk(150)), standard(8_000), Parts(COUNTER, langmem(model)))
    (summary,) = [step for step in done.report.steps if step.strategy == "summarise"]
    assert summary.failed > 0
    assert "Service-" in done.compaction.summary
    assert done.report.after <= done.report.limit
    assert model.requests == []


async def test_langmem_writes_a_summary_with_one_model_call() -> None:
    model = ScriptedModel.of("Service-1 has 7 replicas.")
    with capture_logs():
        done = await prepare(Request(long_talk(150)), standard(8_000), Parts(COUNTER, langmem(model)))
    assert len(model.requests) == 1
    assert done.compaction.summary == "Service-1 has 7 replicas."


async def test_one_summariser_shortens_articles_and_conversation_and_leaves_both_as_they_were() -> None:
    talk = [*long_talk(150, words=20), calls("a"), result("a", articles(7, 900))]
    before, writer = deepcopy(talk), RecordingSummariser("They spoke of services.")
    done = await prepare(Request(talk), rag(14_000), Parts(COUNTER, writer))
    assert [step.strategy for step in done.report.steps] == ["truncate", "compress", "summarise"]
    given = " ".join(writer.given)
    assert "word1 word1" in given
    assert "Question 0 about" in given
    assert talk == before
