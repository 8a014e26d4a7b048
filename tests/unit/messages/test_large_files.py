"""Large files in a message are looked at without a copy."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest
from langchain_core.messages import HumanMessage

from utils.context.worker_thread import is_large
from utils.messages.counter import MessageCounter
from utils.messages.media.pages import pdf_pages

OBJECTS = b"/Type /ObjStm /N 1 >> stream\n"
SIZE = 16_000_000
STREAMS = {
    "no stream": b"x",
    "a stream and what follows": zlib.compress(b"/Type /Page ") + b"\n",
    "a stream without end": zlib.compress(b"a" * 100_000_000)[:50_000],
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_counting_the_pages_of_a_file_copies_no_rest_of_it(stream: bytes) -> None:
    content = (b"%PDF-1.7\n" + OBJECTS + stream).ljust(SIZE, b"x")
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        pdf_pages(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < SIZE


def test_what_is_unpacked_is_no_more_than_the_file() -> None:
    """Each stream here goes on to the end of the file, through blocks that hold nothing."""
    nothing = b"\x78\x9c" + b"\x00\x00\x00\xff\xff" * 1_000
    assert pdf_pages(b"%PDF-1.7\n" + (OBJECTS + nothing) * 600) == 1_000


@pytest.mark.parametrize(
    "node",
    [
        b"<< /Type /Pages /Kids [1 0 R] /Count 12 >>",
        b"<< /Count 12 /Kids [1 0 R] /Type /Pages >>",
        b"<</Type/Pages/Count 12/MediaBox[0 0 9 9]>>",
    ],
)
def test_the_count_of_the_tree_is_read_on_either_side_of_its_type(node: bytes) -> None:
    assert pdf_pages(b"%PDF-1.7\n" + node) == 12


def test_the_count_of_another_dictionary_is_not_that_of_the_tree() -> None:
    assert pdf_pages(b"<< /Type /Pages /Kids [1 0 R] >> << /Type /Outlines /Count 700 >> /Type /Page ") == 1


class Uncopied(str):
    """A text that is shown to nobody."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise AssertionError("The content of a file was copied.")

    __str__ = __repr__


DATA = "JVBERi0xLjcK" * 100_000


def message(data: str) -> HumanMessage:
    block = {"type": "file", "base64": data, "mime_type": "application/pdf"}
    return HumanMessage([{"type": "text", "text": "Summarise it."}, block], id="1")


def test_a_message_that_was_counted_is_known_again_without_a_copy() -> None:
    counter = MessageCounter()
    assert counter.message(message(DATA)) == counter.message(message(Uncopied(DATA)))


def test_whether_a_message_is_large_is_told_without_a_copy() -> None:
    assert is_large([message(Uncopied(DATA))])
    assert not is_large([HumanMessage([{"type": "text", "text": "Hi."}])])


def test_two_files_of_one_size_are_told_apart() -> None:
    counter = MessageCounter()
    text = [HumanMessage([{"type": "text", "text": words, "n": [1]}], id="1") for words in ("a", "a b c d e")]
    assert counter.message(text[0]) != counter.message(text[1])
