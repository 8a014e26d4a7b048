"""Edits of YAML texts that keep comments, quotes and the order of entries. Pure.

ruamel.yaml reads and writes the text. It attaches the comment below a block to the block's last entry, so the lines
between the last entry and a new one are moved below the new one. PyYAML, which reads these files everywhere else,
then checks that the data changed as it should and nowhere else.
"""

from __future__ import annotations

import copy
import io
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

Path = Sequence[str]
Layout = tuple[int, int, int]
"""Indentation of mappings, of list items, and of the dashes of list items."""

_NEW = "entry-that-is-being-added"
_LAYOUTS = ((2, 4, 2), (2, 2, 0), (4, 4, 2), (4, 2, 0), (4, 6, 4))
"""How files indent, the most frequent first."""
_ONE_LINE = 1_000_000


class CannotEdit(Exception):
    """The text cannot be edited without losing something. The message says why."""


def add_entry(text: str, path: Path, entry: str, *, inherited: Sequence[Path] = ()) -> str:
    """Add `entry` at the end of the mapping or list at `path`.

    Args:
        text: The whole document, with plain line feeds.
        path: Keys that lead to a mapping, a list or an empty value; none for the document itself.
        entry: A `key: value` entry for a mapping or an `- item` for a list, without indentation. It may
            refer to anchors of the document.
        inherited: Further places that have the same block by a merge, and so get the entry too.

    Raises:
        CannotEdit: There is no such place, it has that entry already, or the edit would lose something.
    """

    def change(document: Any, *more: Path) -> None:
        new = document.pop(_NEW)
        for place in (path, *more):
            _add(document, place, copy.deepcopy(new) if more else new)

    if not path and _plain(text) is None:
        return f"{text.rstrip()}\n\n{entry}\n".lstrip()
    block = _at(_loaded(text), path)
    source = f"{text.rstrip()}\n{_NEW}:\n{textwrap.indent(entry, '  ')}\n"
    changed = _edited(text, source, change)
    if block and not block.fa.flow_style():
        changed = _with_comments_below(changed, path, len(entry.splitlines()))
    return _checked(changed, source, lambda plain: change(plain, *inherited))


def append_to_scalar(text: str, path: Path, suffix: str, *, inherited: Sequence[Path] = ()) -> str:
    """Write `suffix` after the one-line string at `path`; its quotes stay.

    Args:
        text: The whole document, with plain line feeds.
        path: Keys that lead to the string.
        suffix: What is added to it.
        inherited: Further places that have the same string by a merge, and so change too.

    Raises:
        CannotEdit: There is no such string, or the edit would lose something.
    """

    def change(document: Any, *more: Path) -> None:
        for place in (path, *more):
            value = _at(document, place)
            if not isinstance(value, str) or not value or "\n" in value:
                raise CannotEdit(f"{_named(place)} is not a text on one line")
            _at(document, place[:-1])[place[-1]] = type(value)(f"{value}{suffix}")

    return _checked(_edited(text, text, change), text, lambda plain: change(plain, *inherited))


def remove_key(text: str, key: str) -> str:
    """Remove an entry of the document's mapping; the comments above it and below it stay.

    Raises:
        CannotEdit: There is no such entry, or the edit would lose something.
    """
    document: Any = _loaded(text)
    starts = _first_lines(document)
    if key not in starts or document.fa.flow_style():
        raise CannotEdit(f"there is no entry {key} in block style")
    lines = text.rstrip("\n").split("\n")
    start = starts[key]
    end = min((line for line in starts.values() if line > start), default=len(lines))
    while end > start + 1 and _is_comment(lines[end - 1]):
        end -= 1
    if start and end < len(lines) and not lines[start - 1].strip() and not lines[end].strip():
        end += 1
    changed = "\n".join(lines[:start] + lines[end:]).strip("\n") + "\n"
    return _checked(changed, text, lambda plain: plain.pop(key))


def _add(document: Any, path: Path, new: Any) -> None:
    block = _at(document, path)
    if not block and path and not isinstance(block, str):
        _at(document, path[:-1])[path[-1]] = new
    elif isinstance(block, list) and isinstance(new, list):
        block.extend(new)
    elif isinstance(block, dict) and isinstance(new, dict) and not block.keys() & new.keys():
        for key, value in new.items():
            block[key] = value
    else:
        raise CannotEdit(f"{_named(path)} is no such block, or has that entry already")


def _edited(text: str, source: str, change: Callable[[Any], None]) -> str:
    """`source` after the change, in the layout and with the comments of `text`."""
    before = text.splitlines()
    document = _loaded(source)
    change(document)
    changed = _written(document, _layout_of(text))
    if any(line[line.index("#") :].strip() not in changed for line in before if "#" in line):
        raise CannotEdit("one of its comments would be lost")
    return changed


def _layout_of(text: str) -> Layout:
    """The first layout that keeps every line, else the one that loses fewest."""
    before = set(text.splitlines())
    lost: dict[Layout, int] = {}
    for layout in _LAYOUTS:
        lost[layout] = len(before - set(_written(_loaded(text), layout).splitlines()))
        if not lost[layout]:
            break
    return min(lost, key=lost.__getitem__)


def _with_comments_below(text: str, path: Path, length: int) -> str:
    """Move the comments above the last entry at `path`, which has `length` lines, below it."""
    lines = text.split("\n")
    starts = list(_first_lines(_at(_loaded(text), path)).values())
    first = start = starts[-1]
    while _is_comment(lines[first - 1]):
        first -= 1
    spaced = len(starts) > 2 and not lines[starts[1] - 1].strip()  # noqa: PLR2004 - two that were there before
    new = [""] * spaced + lines[start : start + length]
    return "\n".join(lines[:first] + new + lines[first:start] + lines[start + length :]).rstrip("\n") + "\n"


def _checked(changed: str, source: str, change: Callable[[Any], object]) -> str:
    """`changed`, when its data is that of `source` after the change.

    Raises:
        CannotEdit: It is not.
    """
    expected = _plain(source)
    change(expected)
    if (_plain(changed) or {}) != expected:
        raise CannotEdit("its layout does not allow to change one entry and keep all others")
    return changed


def _loaded(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    parser = YAML()
    parser.preserve_quotes = True
    try:
        return parser.load(text)
    except YAMLError as error:
        raise CannotEdit("it is not valid YAML") from error


def _written(document: Any, layout: Layout) -> str:
    from ruamel.yaml import YAML

    mapping, sequence, offset = layout
    writer = YAML()
    writer.width = _ONE_LINE
    writer.indent(mapping=mapping, sequence=sequence, offset=offset)
    stream = io.StringIO()
    writer.dump(document, stream)
    return stream.getvalue()


def _plain(text: str) -> Any:
    """The data as PyYAML reads it, with a copy in each place that an alias or a merge fills."""
    import yaml

    try:
        loader = getattr(
            yaml, "CSafeLoader", yaml.SafeLoader
        )  # a tenth of the time, where PyYAML came with libyaml
        return _unshared(yaml.load(text, loader))  # noqa: S506 - both are safe
    except yaml.YAMLError as error:
        raise CannotEdit("it is not valid YAML") from error


def _unshared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unshared(one) for key, one in value.items()}
    return [_unshared(one) for one in value] if isinstance(value, list) else value


def _at(document: Any, path: Path) -> Any:
    for depth, key in enumerate(path, 1):
        if not isinstance(document, dict) or key not in document:
            raise CannotEdit(f"there is no {_named(path[:depth])}")
        document = document[key]
    return document


def _first_lines(block: Any) -> dict[Any, int]:
    """The line on which each entry of a mapping or list starts, by key or position."""
    return {key: place[0] for key, place in block.lc.data.items()} if hasattr(block, "lc") else {}


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _named(path: Path) -> str:
    return ".".join(path) or "the document"
