"""Entries added to YAML as text, so that comments and layout stay. Pure.

The places are found by the parser's marks, and every change is checked by parsing the result: it holds
what was there and the new entry, or nothing is changed at all.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import yaml

Path = Sequence[str]


class CannotEdit(Exception):
    """The text is not laid out in a way that an entry can be added to. The message says what is missing."""


def add_entry(text: str, path: Path, entry: str) -> str:
    """Add `entry`, a line or more of YAML, at the end of the block at `path`.

    Args:
        text: The whole document, with plain line feeds.
        path: Keys that lead to a mapping or a list; none for the document itself.
        entry: `key: value` lines for a mapping, `- item` lines for a list, without indentation.

    Raises:
        CannotEdit: There is no such block, it is written in flow style, or the result would be another.
    """
    node = _node(text, path)
    if node is None:
        changed = f"{text.rstrip()}\n\n{entry}\n".lstrip()
    elif not node.value:
        changed = text[: node.start_mark.index].rstrip() + "\n" + _indented(entry, 2) + _after(text, node)
    elif getattr(node, "flow_style", True):
        raise CannotEdit(f"{_named(path)} is no block of entries, one a line")
    else:
        column = node.value[0].start_mark.column if _is_list(node) else node.value[0][0].start_mark.column
        column = node.start_mark.column if _is_list(node) else column
        end = _line_end(text, _last_index(node, text))
        gap = "\n\n" if _is_spaced(text, node) else "\n"
        changed = text[:end] + gap + _indented(entry, column) + text[end:]
    count = sum(not line.startswith(" ") for line in entry.splitlines())
    _check(text, changed, path, lambda old, new: _grown(old, new, count))
    return changed


def append_to_scalar(text: str, path: Path, suffix: str) -> str:
    """Write `suffix` after the one-line value at `path`.

    Raises:
        CannotEdit: There is no such value, or it is not plain text on one line.
    """
    node = _node(text, path)
    if not isinstance(node, yaml.ScalarNode) or node.style not in (None, '"', "'") or not node.value:
        raise CannotEdit(f"{_named(path)} is no text on one line")
    end = node.end_mark.index - (1 if node.style else 0)
    changed = text[:end] + suffix + text[end:]
    _check(text, changed, path, lambda old, new: new == f"{old}{suffix}")
    return changed


def remove_key(text: str, key: str) -> str:
    """Remove an entry of the document's mapping; comments above it stay.

    Raises:
        CannotEdit: The document is no block mapping with that key.
    """
    root = _node(text, ())
    pairs = root.value if isinstance(root, yaml.MappingNode) and not root.flow_style else []
    for key_node, value in pairs:
        if key_node.value == key:
            start, end = key_node.start_mark.index, _line_end(text, _last_index(value, text, key_node))
            before, after = text[:start], text[end:].removeprefix("\n")
            changed = before.removesuffix("\n") + after if before.endswith("\n\n") else before + after
            changed = changed.strip("\n") + "\n"
            _check(text, changed, (), lambda old, new: (new or {}) == {k: old[k] for k in old if k != key})
            return changed
    raise CannotEdit(f"there is no block {key}")


def _node(text: str, path: Path) -> Any:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise CannotEdit("it is not valid YAML") from error
    for depth, key in enumerate(path, 1):
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = [value for name, value in pairs if name.value == key]
        if not found:
            raise CannotEdit(f"there is no {_named(path[:depth])}")
        node = found[0]
    return node


def _is_list(node: Any) -> bool:
    return isinstance(node, yaml.SequenceNode)


def _last_index(node: Any, text: str, *more: Any) -> int:
    """Where the last character of a node's content stands; what an alias stands for is never later."""
    ends, todo = [0], [node, *more]
    while todo:
        one = todo.pop()
        children = one.value if isinstance(one.value, list) else []
        if not children or getattr(one, "flow_style", False):
            ends.append(len(text[: one.end_mark.index].rstrip()))
        for child in children:
            todo.extend(child if isinstance(child, tuple) else [child])
    return max(ends)


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end


def _after(text: str, node: Any) -> str:
    """What follows an empty block: the comment on its line is kept."""
    rest = text[node.end_mark.index :]
    line, newline, following = rest.partition("\n")
    comment = line.strip()
    return (f"  {comment}" if comment else "") + newline + following


def _is_spaced(text: str, node: Any) -> bool:
    """Whether the entries of a block are set apart by empty lines."""
    if len(node.value) < 2:  # noqa: PLR2004 - two entries have something between them
        return False
    last = node.value[-1] if _is_list(node) else node.value[-1][0]
    before = text[: last.start_mark.index].rstrip(" -")
    return before.endswith("\n\n")


def _indented(entry: str, column: int) -> str:
    return textwrap.indent(entry, " " * column)


def _named(path: Path) -> str:
    return ".".join(path) or "the document"


def _grown(old: Any, new: Any, count: int) -> bool:
    """Whether the new value is the old one with `count` entries more at its end."""
    before, after = list(_entries(old)), list(_entries(new))
    return len(after) == len(before) + count and after[: len(before)] == before


def _entries(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else value or ()


def _check(before: str, after: str, path: Path, right: Callable[[Any, Any], bool]) -> None:
    """Compare what the two texts say: `right` at `path`, and the same everywhere else."""
    try:
        old, new = yaml.safe_load(before), yaml.safe_load(after)
    except yaml.YAMLError as error:
        raise CannotEdit("the result would not be valid YAML") from error
    for key in path:
        rest = [{k: v for k, v in one.items() if k != key} for one in (old, new)]
        if rest[0] != rest[1]:
            break
        old, new = old[key], new[key]
    else:
        if right(old, new):
            return
    raise CannotEdit(f"{_named(path)} is laid out in an unusual way")
