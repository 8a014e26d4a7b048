"""A table of an answer on a screen that is too narrow for it: one line for each row, and the columns that fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table
from rich.text import Text

from multi_agents.cli.console import clean

WRAPPED_COLUMNS = 3
"""A table of so many columns is prose in columns: its cells are wrapped and none is left out."""

NARROW = 12
"""A column of so many characters is shown whole or not at all."""

LEAST = 24
"""Characters of a wider column that are worth showing."""

_GAP = 2

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


def fitted_widths(widths: Sequence[int], width: int) -> dict[int, int]:
    """The columns that are shown, from the left, and how wide each is, by what its widest cell takes. Pure."""
    shown: dict[int, int] = {}
    left = width + _GAP
    for column, natural in enumerate(widths):
        least = natural if natural <= NARROW else min(natural, LEAST)
        if least + _GAP <= left or not shown:
            shown[column] = min(least, width)
            left -= shown[column] + _GAP
    for column, wide in shown.items():
        more = min(max(left, 0), widths[column] - wide)
        shown[column] += more
        left -= more
    return shown


class FittedTable(TableElement):
    """A table of Markdown that never wraps the cells of a wide one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, and the names of the columns that are left out."""
        if self.header is None or self.header.row is None:
            return
        headings = [cell.content for cell in self.header.row.cells]
        rows = [[cell.content for cell in row.cells] for row in (self.body.rows if self.body else [])]
        if len(headings) <= WRAPPED_COLUMNS:
            yield from super().__rich_console__(console, options)
            return
        widths = [
            max([heading.cell_len, *(row[column].cell_len for row in rows if column < len(row))])
            for column, heading in enumerate(headings)
        ]
        shown = fitted_widths(widths, options.max_width)
        yield _table(shown, headings, rows)
        left_out = ", ".join(heading.plain for column, heading in enumerate(headings) if column not in shown)
        if left_out:
            yield Text(f"Too wide for this screen: {left_out}. /save FILE writes them.", style="dim")


def _table(shown: Mapping[int, int], headings: Sequence[Text], rows: Sequence[Sequence[Text]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="markdown.table.header")
    for column, wide in shown.items():
        table.add_column(headings[column], width=wide, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(row[column] for column in shown))
    return table


class FittedMarkdown(Markdown):
    """Markdown whose tables fit the screen: a link in a wide one is shown by its text alone.

    HTML is text, as on the page: an answer says `<token>` and `List<String>` where it means them, and Rich would drop both.
    """

    elements = {**Markdown.elements, "table_open": FittedTable}  # noqa: RUF012 - as the base class has it

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.markup = text
        self.parsed = _without_links_in_wide_tables(_PARSER.parse(text))
        _clean(self.parsed)


def _without_links_in_wide_tables(tokens: Sequence[Token]) -> list[Token]:
    columns = 0
    for token in tokens:
        if token.type == "table_open":
            columns = 0
        elif token.type == "th_open":
            columns += 1
        elif token.type == "table_close":
            columns = 0
        elif token.type == "inline" and columns > WRAPPED_COLUMNS and token.children:
            token.children = [one for one in token.children if one.type not in ("link_open", "link_close")]
    return list(tokens)


def _clean(tokens: Iterable[Token]) -> None:
    """Take out what steers a terminal: Markdown can also write a character by its number, as in `&#x202e;`."""
    for token in tokens:
        token.content, token.info = clean(token.content), clean(token.info)
        _clean(token.children or ())
