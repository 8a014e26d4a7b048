"""Files and pages become documents with titles, heading paths and blocks."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rag.ingest.chunk import chunk_document
from agents.rag.ingest.decode import decode_text, looks_binary
from agents.rag.ingest.document import BlockKind, Document
from agents.rag.ingest.load import parse_document
from tests.unit.rag.pdf_bytes import pdf
from utils.errors import IngestFailed

MARKDOWN = """---
title: "Runbook"
---
Before any heading.

# Runbook

## Restart `api` now

Stop it first.

```sh
# not a heading
restart api
```

| a | b |
|---|---|
| 1 | 2 |

- first
- second

  with a paragraph

### Details
<!-- hidden -->
Deep.

## Restart `api` now

Again.
"""

HTML = """<html><head><title>Site - Guide</title><script>var secret = 1</script></head><body>
<header>Logo</header><nav><a href=x>Menu</a></nav>
<main><h1>Guide<a class="headerlink" href="#g">¶</a></h1><p>Intro with <code>code</code><br>and a line.</p>
<section id="setup"><h2>Set up</h2><p>Do <b>this</b>first.</p><pre>pip
  install</pre>
<table><tr><th>k</th><th>v</th></tr><tr><td>a|b</td><td>2</td></tr></table>
<ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul></section>
<section id="twoids"><h2 id="own">Other</h2><dl><dt>Term</dt><dd>Meaning</dd></dl></section></main>
<footer>Copyright</footer></body></html>"""


def blocks(document: Document, number: int) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.sections[number].blocks]


def parse(text: str, media_type: str) -> Document:
    return parse_document(text.encode(), media_type, "fallback")


def test_markdown_keeps_heading_paths_and_the_anchors_that_renderers_make() -> None:
    document = parse(MARKDOWN, "text/markdown")
    assert document.title == "Runbook"
    assert [(s.path, s.anchor) for s in document.sections] == [
        ((), ""),
        ((), "runbook"),
        (("Restart api now",), "restart-api-now"),
        (("Restart api now", "Details"), "details"),
        (("Restart api now",), "restart-api-now-1"),
    ]


def test_markdown_code_tables_and_items_are_blocks_of_their_own() -> None:
    kinds = [kind for kind, _ in blocks(parse(MARKDOWN, "text/markdown"), 2)]
    assert kinds == ["text", "code", "table", "item", "item"]


def test_a_hash_in_a_code_block_is_no_heading_and_comments_are_left_out() -> None:
    document = parse(MARKDOWN, "text/markdown")
    assert "# not a heading" in blocks(document, 2)[1][1]
    assert "hidden" not in document.text


@pytest.mark.parametrize("media_type", ["text/markdown", "text/html", "text/plain"])
@pytest.mark.parametrize(
    "text", ["`" * 50_000, "[" * 20_000, "> " * 3_000 + "x", "<a " * 20_000, "#" * 50_000]
)
@pytest.mark.timeout(20)
def test_hostile_text_is_cut_in_little_time(text: str, media_type: str) -> None:
    chunks = chunk_document(parse(text, media_type), 220)
    assert sum(len(chunk.text) for chunk in chunks) <= 3 * len(text)


@given(
    st.binary(max_size=600), st.sampled_from(["text/markdown", "text/html", "text/plain", "application/pdf"])
)
def test_any_bytes_are_a_document_or_a_refusal(data: bytes, media_type: str) -> None:
    with contextlib.suppress(IngestFailed):
        parse_document(data, media_type, "fallback")


def test_html_keeps_the_main_part_only() -> None:
    document = parse(HTML, "text/html")
    assert document.title == "Guide"
    for noise in ("secret", "Logo", "Menu", "Copyright", "¶"):
        assert noise not in document.text


def test_html_anchors_are_the_ids_that_links_use() -> None:
    assert [s.anchor for s in parse(HTML, "text/html").sections[2:]] == ["setup", "own"]


def test_html_blocks_read_as_markdown() -> None:
    document = parse(HTML, "text/html")
    assert blocks(document, 1) == [("text", "Intro with `code`\nand a line.")]
    assert blocks(document, 2) == [
        ("text", "Do thisfirst."),
        ("code", "```\npip\n  install\n```"),
        ("table", "| k | v |\n| --- | --- |\n| a\\|b | 2 |"),
        ("item", "- one"),
        ("item", "- two"),
        ("item", "- inner"),
    ]


def test_deeply_nested_html_is_flattened_not_a_crash() -> None:
    document = parse("<div>" * 20_000 + "core" + "</div>" * 20_000, "text/html")
    assert document.text == "core"


def test_plain_text_is_cut_into_paragraphs_under_its_file_name() -> None:
    document = parse("one\r\nmore\r\n\r\n\r\ntwo", "text/plain")
    assert (document.title, document.text) == ("fallback", "one\nmore\n\ntwo")
    assert [b.kind for b in document.sections[0].blocks] == [BlockKind.TEXT, BlockKind.TEXT]


def test_a_pdf_has_a_section_for_each_page_with_text() -> None:
    document = parse_document(pdf(["First page", "Second page"], "Manual"), "application/pdf", "x")
    assert document.title == "Manual"
    found = [(s.path[-1], s.anchor, blocks(document, n)) for n, s in enumerate(document.sections) if s.blocks]
    assert found == [
        ("Page 1", "page=1", [("text", "First page")]),
        ("Page 2", "page=2", [("text", "Second page")]),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.4\n",
        b"%PDF-1.7 garbage \x00\xff" * 50,
        pdf(["text"])[:200],
        pdf(["a", "b"]).replace(b"/Kids", b"/Cats"),
    ],
)
def test_a_broken_pdf_is_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(IngestFailed) as refused:
        parse_document(data, "application/pdf", "x")
    assert refused.value.message in {"is not a readable PDF", "has no text layer (it may be a scan)"}


def test_a_pdf_without_text_says_that_it_may_be_a_scan() -> None:
    with pytest.raises(IngestFailed, match="scan"):
        parse_document(pdf([""]), "application/pdf", "x")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_text_survives_its_encoding(encoding: str) -> None:
    data = "Größe – naïve\r\n".encode(encoding)
    assert not looks_binary(data)
    assert decode_text(data) == "Größe – naïve\n"


def test_a_declared_encoding_is_used_when_it_is_no_utf8() -> None:
    assert decode_text("Привет".encode("koi8-r"), "koi8-r") == "Привет"
    assert decode_text(b"plain", "no-such-encoding") == "plain"


@pytest.mark.parametrize("data", [b"GIF89a\x00\x01", b"\x7fELF\x02\x01\x01\x00", bytes(range(1, 32)) * 9])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(IngestFailed, match="binary"):
        parse_document(data, "text/plain", "x")
