"""Generated nasty documents: each is read or skipped with a sentence, and the good ones beside them are there."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.store import Store
from agents.rag.ingest.html import parse_html
from agents.rag.ingest.ingester import Ingester
from agents.rag.settings import RagSettings
from tests.unit.rag.pdf_bytes import pdf
from tests.unit.rag.test_ingestion import consistent

_TAGS = ("table", "tr", "td", "ul", "li", "dl", "dd", "div", "blockquote", "pre", "code", "h2", "b", "p")
_ODD = ("&#xD800;", "&#0;", "\0", "\u202e", "|", "`" * 9, "\x1f", "]]>", "<!--", "\ud83d", "é" * 90)


def html(dice: random.Random) -> bytes:
    """Tags in tags, some closed, hundreds deep."""
    tags = [dice.choice(_TAGS) for _ in range(dice.choice((3, 30, 900)))]
    if dice.random() < 0.5:
        tags = [dice.choice(_TAGS)] * len(tags)
    opened = "".join(f"<{tag}>{dice.choice(_ODD)}" for tag in tags)
    closed = "".join(f"</{tag}>" for tag in reversed(tags) if dice.random() < 0.9)
    return f"{opened}core{closed}".encode("utf-8", "surrogatepass")


def markdown(dice: random.Random) -> bytes:
    """Quotes in lists in quotes, and headings of odd letters."""
    marks = dice.choice(("> ", "- ", "1. ", "  - ", "> - ", "# ", "|", "```\n", "---\ntitle: "))
    deep = dice.choice((3, 40, 400))
    return (marks * deep + dice.choice(_ODD) + "\n\ncore\n").encode("utf-8", "surrogatepass")


def broken_pdf(dice: random.Random) -> bytes:
    """A PDF with a few bytes or words of its structure changed."""
    data = bytearray(pdf(["core"] * dice.randint(1, 4), "title"))
    for _ in range(dice.randint(1, 12)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    words = (b"/Kids", b"/Count", b"/Contents", b"/Length", b" 0 R", b"/Title", b"endobj", b"/Font")
    if dice.random() < 0.5:
        data = bytearray(bytes(data).replace(dice.choice(words), dice.choice(words), dice.randint(1, 3)))
    return bytes(data)


def packed_pdf(dice: random.Random) -> bytes:
    """A PDF whose page is a packed stream that is cut, or text with half characters."""
    text = dice.choice((b"BT /F1 12 Tf (core) Tj ET", b"BT <feffd800> Tj ET", b"q " * 5_000, b"(" * 5_000))
    packed = zlib.compress(text)[: dice.choice((5, 20, None))]
    stream = f"<< /Filter /FlateDecode /Length {len(packed)} >>\nstream\n".encode() + packed + b"\nendstream"
    page = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>"
    title = b"<< /Title <feffd800> >>"
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", tree, page, stream, title]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, each) for number, each in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer\n<< /Root 1 0 R /Info 5 0 R /Size 6 >>\n%%EOF\n"


def noise(dice: random.Random) -> bytes:
    mark = dice.choice((b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"%PDF-1.7\n"))
    return mark + dice.randbytes(dice.choice((0, 1, 300, 9_000)))


MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    ".html": html,
    ".md": markdown,
    ".pdf": broken_pdf,
    ".PDF": packed_pdf,
    ".txt": noise,
}


def name(dice: random.Random, number: int) -> bytes:
    odd = (b"", b"\xff", b"\n", b"\x1b[31m", b"%", b"#", "é".encode(), b" ", b"\\xff", b"://")
    return f"n{number}".encode() + dice.choice(odd).replace(b"/", b"_")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.timeout(120)
async def test_nasty_documents_cost_a_line_each_and_nothing_else(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    folder = os.fsencode(tmp_path / "notes")
    Path(os.fsdecode(folder)).mkdir()
    for number in range(120):
        suffix, make = dice.choice(list(MAKERS.items()))
        Path(os.fsdecode(folder + b"/" + name(dice, number) + suffix.encode())).write_bytes(make(dice))
    good = Path(os.fsdecode(folder + b"/zz.md"))
    good.write_text("# Good\n\nAll is well.\n")
    store = Store(tmp_path / "index.sqlite")
    ingester = Ingester(EmbeddedIndex(store.path), RagSettings(), None)
    summary = await ingester.ingest([os.fsdecode(folder)])
    assert summary.added + len(summary.problems) == 121
    assert all(problem.endswith(".") and problem.isprintable() for problem in summary.problems)
    assert "notes/zz.md" in [document.source for document in store.documents()]
    again = await ingester.ingest([os.fsdecode(folder)])
    assert (again.added, again.unchanged, again.removed) == (0, summary.added, 0)
    assert consistent(store)


@pytest.mark.parametrize("tag", ["<div>", "<ul><li>", "<b>", '<div title="<">', "<x-y>"])
@pytest.mark.timeout(60)  # the parser alone would take minutes
def test_a_page_whose_tags_are_nested_without_end_is_read_in_no_time_and_keeps_its_text(tag: str) -> None:
    page = parse_html(f"<h1>Title</h1>{tag * 200_000}core", "page")
    assert page.title == "Title"
    assert "core" in str(page)


def test_comparisons_in_scripts_are_no_tags_however_many_there_are() -> None:
    script = "if (a<e.length&&b>c) {}\n" * 6_000
    page = parse_html(f"<h1>Title</h1><script>{script}</script><!-- {'<div>' * 6_000} --><p>core</p>", "page")
    assert "core" in str(page)
    assert "e.length" not in str(page)


_MANY = " ".join(f"a{number}=1" for number in range(400_000))


@pytest.mark.parametrize(
    "page",
    [
        f"<p {_MANY}>core</p>",
        f"<p>core</p {_MANY}>",
        f"""<p ' x=">" {_MANY}>core</p>""",
        f"<script {_MANY}></script><p>core</p>",
        f"<textarea></textarea {_MANY}><p>core</p>",
        f"<!--><p {_MANY}>core<!-- -->",
        f"<p>core</p><!-- --!><p {_MANY}",
    ],
    ids=["start", "end", "odd quotes", "script", "end of text", "empty comment", "no end"],
)
@pytest.mark.timeout(60)  # the parser alone would take minutes
def test_a_tag_of_attributes_without_end_is_read_in_no_time_and_the_text_beside_it_is_kept(page: str) -> None:
    assert "core" in str(parse_html(page, "page"))


def test_short_attributes_beside_long_tags_still_say_what_is_no_text_of_the_page() -> None:
    picture = f'<img src="data:image/png;base64,{"A" * 9_000}">'
    page = str(parse_html(f"<main>{picture}<p hidden>aside</p><p title='a > b'>core</p></main>", "page"))
    assert "core" in page
    assert "aside" not in page
