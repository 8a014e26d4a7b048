"""HTML to a document: the page's main part as headings, paragraphs, items, code and tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agents.rag.ingest.document import BlockKind, Document, DocumentBuilder
from agents.rag.ingest.html_table import table_rows
from agents.rag.ingest.slug import Slugs

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NOISE = (
    "script, style, noscript, template, svg, iframe, object, form, button, nav, aside, head, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=search], a.headerlink, "
    "body > header, body > footer, .sphinxsidebar, .related, .toctree-wrapper, nav.contents"
)
_MAIN = ("[role=main]", "main", "article", "body")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = frozenset(
    re.findall(
        r"\w+",
        "a abbr b bdi bdo cite code del dfn em font i img ins kbd label mark q s samp small span "
        "strong sub sup time tt u var wbr",
    )
)
_DEEPEST = 150
"""Nesting past which markup is flattened to its text; no readable page comes near."""
_DEEPEST_PARSED = 5_000
"""Nesting past which tags are left out before the page is parsed: the parser's time grows with the square of it, to a minute at 100,000."""
_LONGEST_TAG = 2_000
"""Characters of a tag past which its attributes are left out: the parser's time grows with the square of their number, to half an hour for
10 MB of them. None is read but a few short ones, which say what is no text of the page."""
_ATTRIBUTES = r"""(?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+)*+[\s/]*+(?:>|\Z)"""
"""The rest of a tag after its name, as HTML reads it: a `>` in a quoted value does not end it."""
_TAG = re.compile(
    rf"<(?P<raw>script|style|textarea|title)(?![\w:-]){_ATTRIBUTES}(?P<text>.*?(?=</(?P=raw)\b|\Z))|<!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|<(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+){_ATTRIBUTES}",
    re.IGNORECASE | re.DOTALL,
)
"""A tag; or what holds no tags, as a whole: text that is no markup, such as a script, and a comment."""
_NESTS_NOT = frozenset(
    re.findall(
        r"\w+",
        "area base br col embed hr img input link meta param source track wbr "  # have no end
        "p li dd dt option optgroup tr td th thead tbody tfoot rt rp "  # end where the next one begins
        "script style textarea title",  # hold text alone
    )
)


def parse_html(text: str, fallback_title: str) -> Document:
    """Parse a page. The title is the first h1 of the main part, else the page's title element."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(_bounded(text))
    page_title = tree.css_first("title")
    title = page_title.text(strip=True) if page_title else ""
    for node in tree.css(_NOISE):
        node.decompose()
    main = _main_part(tree)
    writer = _Writer()
    if main is not None:
        writer.children(main, 0)
        writer.flush()
        heading = main.css_first("h1")
        title = (heading.text(separator="").strip() if heading else "") or title
    return writer.builder.build(title or None, fallback_title)


def _bounded(text: str) -> str:
    """The page without the tags that are nested too deeply for the parser, and without the attributes of tags that are too long for it."""
    depth = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth
        if raw := match["raw"]:
            is_long = match.start("text") - match.start() > _LONGEST_TAG
            return f"<{raw}>{match['text']}" if is_long else match[0]
        name = match["name"]
        if not name:
            return match[0]
        tag = match[0] if len(match[0]) <= _LONGEST_TAG else f"<{match['end']}{name[:_LONGEST_TAG]}>"
        if name.lower() in _NESTS_NOT:
            return tag if depth < _DEEPEST_PARSED else " "
        if match["end"]:
            depth = max(0, depth - 1)
            return tag if depth < _DEEPEST_PARSED else " "
        depth += 1
        return tag if depth <= _DEEPEST_PARSED else " "

    return _TAG.sub(kept, text)


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in _MAIN:
        node = tree.css_first(selector)
        if node is not None and node.text(strip=True):
            return node
    return tree.body


class _Writer:
    """Walks the tree; inline text gathers in a buffer that each block element flushes."""

    def __init__(self) -> None:
        self.builder = DocumentBuilder()
        self._slugs = Slugs()
        self._buffer: list[str] = []
        self._kind = BlockKind.TEXT
        self._bullet = ""

    def children(self, node: LexborNode, depth: int) -> None:
        for child in node.iter(include_text=True):
            self._node(child, depth + 1)

    def flush(self) -> None:
        text = " ".join("".join(self._buffer).split(" "))
        lines = (" ".join(line.split()) for line in text.split("\x1f"))
        joined = "\n".join(line for line in lines if line)
        self._buffer.clear()
        if joined:
            self.builder.add(self._bullet + joined, self._kind)
            self._bullet = ""

    def _node(self, node: LexborNode, depth: int) -> None:
        tag = node.tag or ""
        if tag == "-text" or depth > _DEEPEST:
            self._buffer.append(node.text(deep=True, separator=" ").replace("\n", " "))
        elif tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag == "br":
            self._buffer.append("\x1f")
        elif tag == "pre":
            self._code(node)
        elif tag == "table":
            self._table(node, depth)
        elif tag == "code":
            self._buffer.append(f"`{node.text(separator='').strip()}`")
        elif tag == "img":
            self._buffer.append(f" {node.attributes.get('alt') or ''} ")
        elif tag in _INLINE:
            self.children(node, depth)
        elif not tag.startswith(("-", "_", "!")):
            self._block(node, tag, depth)

    def _block(self, node: LexborNode, tag: str, depth: int) -> None:
        self.flush()
        outer = (self._kind, self._bullet)
        if tag in ("li", "dd"):
            self._kind, self._bullet = BlockKind.ITEM, "- " if tag == "li" else ""
        self.children(node, depth)
        self.flush()
        self._kind, self._bullet = outer

    def _heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        text = node.text(separator="").strip()
        self.builder.heading(level, text, _anchor(node) or self._slugs.of(text))

    def _code(self, node: LexborNode) -> None:
        self.flush()
        code = node.text(separator="").strip("\n")
        if code.strip():
            self.builder.add(f"```\n{code}\n```", BlockKind.CODE)

    def _table(self, node: LexborNode, depth: int) -> None:
        self.flush()
        rows = table_rows(node)
        if rows is None:
            self.children(node, depth)
            self.flush()
        else:
            self.builder.add("\n".join(rows), BlockKind.TABLE)


def _anchor(heading: LexborNode) -> str:
    """The id that a link to this heading carries: its own, its section's, or a named anchor's within."""
    own = heading.attributes.get("id")
    parent = heading.parent
    if not own and parent is not None and parent.tag in ("section", "div", "article"):
        first = parent.css_first("h1, h2, h3, h4, h5, h6")
        own = parent.attributes.get("id") if first is not None and first.mem_id == heading.mem_id else None
    if not own:
        named = heading.css_first("a[name], a[id]")
        own = (named.attributes.get("name") or named.attributes.get("id")) if named else None
    return own or ""
