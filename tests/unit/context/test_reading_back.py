import threading
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.artifacts import MemoryArtifactStore
from tests.unit.context.conversations import COUNTER, human, long_talk
from utils.context import tools
from utils.context.compaction import Compaction
from utils.context.grep import grep_lines
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import standard
from utils.context.search import LONGEST_PASSAGE, bm25, passages_of
from utils.context.tools import PAGE, Room, context_tools, found_text, hidden, page_of
from utils.persistence.artifacts import SqliteArtifactStore


@pytest.fixture(params=["sqlite", "memory"])
def store(request, tmp_path):
    return (
        SqliteArtifactStore(tmp_path / "new" / "artifacts.db")
        if request.param == "sqlite"
        else MemoryArtifactStore()
    )


async def test_a_text_is_read_by_its_own_conversation_only(store):
    await store.put("mine", {"art_1": "secret"})
    await store.put("mine", {"art_1": "secret"})
    assert await store.get("mine", "art_1") == "secret"
    assert await store.get("yours", "art_1") is None


async def test_a_deleted_conversation_takes_its_texts_along(store):
    await store.put("mine", {"art_1": "a", "art_2": "b"})
    await store.put("yours", {"art_1": "a"})
    assert await store.delete_scope("mine") == 2
    assert await store.get("mine", "art_1") is None
    assert await store.get("yours", "art_1") == "a"


async def test_texts_outlive_the_process_and_odd_characters(tmp_path):
    await SqliteArtifactStore(tmp_path / "a.db").put("t", {"art_1": "naïve \x00 🙂 \ud800"})
    assert str(await SqliteArtifactStore(tmp_path / "a.db").get("t", "art_1")).startswith("naïve \x00 🙂")


def test_pages_lead_through_the_whole_text():
    text, read, offset = "".join(chr(97 + i % 26) for i in range(3 * PAGE + 5)), "", 0
    while offset < len(text):
        page = page_of(text, offset).rpartition("\n[")[0]
        read, offset = read + page, offset + len(page)
    assert read == text
    assert "the end" in page_of(text, len(text) - 1)


def test_grep_gives_numbered_lines_and_takes_no_regular_expression():
    text = "ok\nERROR: disk\nfine\nfatal: net"
    found = grep_lines(text, "error|fatal", PAGE)
    assert found == "2: ERROR: disk\n4: fatal: net\n[2 of 2 matches in 4 lines]"
    assert grep_lines(text, "(.*)*x", PAGE) == "No line of 4 matches."
    assert grep_lines(text, "|", PAGE) == "No line of 4 matches."
    assert grep_lines("", "x", PAGE) == "No line of 1 matches."


@given(
    st.lists(st.text("ab\n\r", max_size=40).map(lambda part: part * 30) | st.just("needle"), max_size=9),
    st.integers(0, 9_000),
)
def test_grep_shows_every_match_from_an_offset_on_over_as_many_calls_as_it_takes(parts, offset):
    text, shown, calls = "".join(parts), "", 0
    begin: int | None = min(offset, len(text))
    wanted = text.count("needle", begin)
    while begin is not None:
        found = grep_lines(text, "NEEDLE", 900, begin)
        assert len(found) < 1_100
        shown += found
        _, _, more = found.rpartition("go on with offset=")
        begin = int(more.partition("]")[0]) if "go on with" in found else None
        calls += 1
        assert calls <= wanted + 1
    assert shown.count("needle") >= wanted


@pytest.mark.timeout(20)
def test_grep_in_one_very_long_line_looks_at_each_character_once():
    text = "x" * 4_000_000
    assert grep_lines(text, "x", PAGE).startswith("1 (offset 0): xxx")
    assert "\n1 (offset 0): " not in grep_lines(text, "x", PAGE)


async def test_recall_finds_in_the_hidden_part_what_the_view_no_longer_shows():
    talk = long_talk(60)
    prepared = await prepare(Request(talk), standard(4_000), Parts(COUNTER))
    assert "Service-3 has 21 replicas." not in [m.content for m in prepared.messages]
    compaction = Compaction.from_state(prepared.compaction.as_state())
    assert "Service-3 has 21 replicas." in found_text("replicas of service-3", hidden(talk, compaction))
    assert found_text("zebra", hidden(talk, compaction)) == "Nothing earlier in this conversation matches."


async def test_recall_searches_beside_the_event_loop(monkeypatch):
    threads = []

    def searching(query, messages, fitting):
        threads.append(threading.get_ident())
        return found_text(query, messages, fitting)

    monkeypatch.setattr(tools, "found_text", searching)
    recall: Any = context_tools(MemoryArtifactStore())[1]
    state = {"messages": long_talk(3), "compaction": Compaction(through="f1").as_state()}
    found = await recall.coroutine(query="replicas", runtime=SimpleNamespace(state=state))
    assert "Service-0 has 0 replicas." in found
    assert threads != [threading.get_ident()]


async def test_the_tools_of_each_store_read_their_own_and_are_sent_alike():
    pairs: list[list[Any]] = []
    for name in ("one", "two"):
        store = MemoryArtifactStore()
        await store.put("", {"art_1": name})
        pairs.append(context_tools(store))
    read = [await pair[0].coroutine("art_1", SimpleNamespace(config={})) for pair in pairs]
    assert [text.splitlines()[0] for text in read] == ["one", "two"]
    assert [each.tool_call_schema for each in pairs[0]] == [each.tool_call_schema for each in pairs[1]]


@pytest.mark.parametrize("text", ["部署用了四分钟，没有异常。", "It took four minutes, nothing is wrong. "])
async def test_in_a_small_window_a_call_returns_what_there_is_room_for_in_any_language(text):
    room = Room(1_000, COUNTER)
    store = MemoryArtifactStore()
    made: list[Any] = context_tools(store, room)
    read, recall = (tool.coroutine for tool in made)
    await store.put("", {"art_1": text * 900})
    talk = [human(f"{n}. {text}", f"h{n}") for n in range(300)]
    state = {"messages": talk, "compaction": Compaction(through="h299").as_state()}
    runtime = SimpleNamespace(state=state, config={})
    for found in (
        await read("art_1", runtime),
        await read("art_1", runtime, grep="四|four"),
        await recall(text, runtime),
    ):
        assert 700 < COUNTER.text(found) <= 1_100


def test_bm25_ranks_the_rare_word_over_the_common_one():
    passages = ["the deploy failed", "the deploy was restarted by quorum", "the weather"]
    assert bm25("restart the quorum", passages, 3)[0].place == 1
    assert bm25("zebra", passages, 3) == []


def test_long_paragraphs_are_searched_in_parts():
    assert all(len(p) <= LONGEST_PASSAGE for p in passages_of("A sentence of some length. " * 200))


def test_recall_gives_as_many_short_passages_as_a_page_has_room_for_and_of_equals_the_later():
    said = [human(f"The order has the number {number}.", f"h{number}") for number in range(300)]
    found = found_text("number of the order", said)
    assert found.count("number") > 30
    assert len(found) <= 4_200
    assert "number 299." in found
    assert "number 0." not in found
