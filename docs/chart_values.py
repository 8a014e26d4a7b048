"""The page docs/chart-values.md: each value of the Helm chart, from the comments of values.yaml and from values.schema.json.

A value means what the comment on its line says. A key that values.yaml does not show has its meaning in the schema's `description`.
"""
# ruff: noqa: INP001 - a folder of documents with scripts in it is no package

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Schema = Mapping[str, Any]
Path_ = tuple[str, ...]

INTRODUCTION = """\
# Values of the Helm chart

<!-- Made from helm/platform-engineer/values.yaml and helm/platform-engineer/values.schema.json: run `python -m docs.make_configuration` after
a change there. -->

This page is for whoever writes a values file for the chart: it lists every value with its type, its default and its meaning, one table for
each group. [Kubernetes](kubernetes.md) shows how to use them. A value that is not listed here, or is of another type, is
[refused](kubernetes.md#which-values-does-the-chart-refuse). `name.key` is the key `key` below `name`.
"""
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Which values choose the image?": ("image", "imagePullSecrets"),
    "Which values hold settings and secrets?": ("settings", "secrets"),
    "Which values set the database and the encryption?": ("database", "encryption"),
    "Which values do the supervisor and the agents share?": ("defaults",),
    "Which values has the supervisor alone?": ("supervisor",),
    "Which values has an entry in the list of agents?": ("agents",),
    "Which values set the ingress, the network policies and mutual TLS?": (
        "ingress",
        "networkPolicy",
        "mtls",
    ),
    "Which values set the metrics?": ("metrics",),
    "Which values set the service account and the helm test?": ("serviceAccount", "test", "global"),
}
"""The headings of the page, and the keys at the top that each is about."""
POD = "defaults"
"""The group whose keys the supervisor and each agent take too."""
UNSET = "unset"


@dataclass(frozen=True)
class Value:
    """One row: the key as a values file nests it, its type, its default, and what it means."""

    key: str
    kind: str
    default: str
    meaning: str


class ChartFiles:
    """values.yaml with its comments, and the schema beside it."""

    def __init__(self, chart: Path) -> None:
        self._lines = (chart / "values.yaml").read_text("utf-8").splitlines()
        self._schema: Schema = json.loads((chart / "values.schema.json").read_text("utf-8"))
        self._nodes = dict(_pairs(yaml.compose("\n".join(self._lines)), ()))

    def groups(self) -> Sequence[str]:
        """Every key at the top, as the schema knows it."""
        return tuple(self._schema["properties"])

    def about(self, group: str) -> str:
        """The comment above a group in values.yaml, up to its first line that is indented, such as an example."""
        if (group,) not in self._nodes:
            return ""
        at, found = self._nodes[group,][0].start_mark.line, list[str]()
        while self._lines[at - 1].startswith("#"):
            at -= 1
            found.insert(0, self._lines[at].removeprefix("#"))
        whole = [line for line in found if not line.startswith("  ")]
        return _linked(re.sub(":$", ".", " ".join(line.strip() for line in whole if line.strip())))

    def values(self, group: str) -> Sequence[Value]:
        """The rows of a group; those of the supervisor and of an agent are what the defaults have not."""
        schema = self._schema["properties"][group]
        if group == "agents":
            return [*self._rows(("agents[]",), self._besides_pods(schema["items"]))]
        if group == "supervisor":
            return [*self._rows((group,), self._besides_pods(schema))]
        return [*self._rows((group,), self._whole(schema))]

    def _besides_pods(self, schema: Schema) -> Schema:
        whole, shared = self._whole(schema), self._whole(self._schema["properties"][POD])["properties"]
        return {
            **whole,
            "properties": {key: one for key, one in whole["properties"].items() if key not in shared},
        }

    def _whole(self, schema: Schema) -> Schema:
        """A schema with what it refers to; a key that is `false` in it is left out."""
        referred = schema.get("$ref")
        if referred:
            found = self._schema["definitions"][referred.rpartition("/")[2]]
            return self._whole({**found, **{k: v for k, v in schema.items() if k != "$ref"}})
        own = dict(schema.get("properties", {}))
        for base in schema.get("allOf", ()):
            own = {**self._whole(base)["properties"], **own}
        return {**schema, "properties": {key: one for key, one in own.items() if one is not False}}

    def _rows(self, path: Path_, schema: Schema) -> Iterator[Value]:
        """The rows below one key. A key that values.yaml does not show and the schema describes is one row, whatever is below it."""
        meaning = self._comment(path) or str(schema.get("description", ""))
        below = schema["properties"] if path in self._nodes or not schema.get("description") else {}
        if meaning or not below:
            default = "" if below else self._default(path)
            yield Value(".".join(path), _kind(schema), default, _linked(meaning))
        for key, one in below.items():
            yield from self._rows((*path, key), self._whole(one))

    def _default(self, path: Path_) -> str:
        pair = self._nodes.get(path)
        return UNSET if pair is None else f"`{json.dumps(_plain(pair[1]), ensure_ascii=False)}`"

    def _comment(self, path: Path_) -> str:
        """What stands behind the value, or behind the key of a value on lines of its own."""
        if path not in self._nodes:
            return ""
        key, value = self._nodes[path]
        same = value.end_mark.line == key.start_mark.line
        rest: str = self._lines[key.start_mark.line][(value if same else key).end_mark.column :]
        return rest.partition("# ")[2].strip()


def _pairs(node: Any, path: Path_) -> Iterator[tuple[Path_, tuple[Any, Any]]]:
    """Every key of the values by its path, with the nodes of the key and of the value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*path, key.value), (key, value)
            yield from _pairs(value, (*path, key.value))


def _plain(node: Any) -> Any:
    return yaml.safe_load(yaml.serialize(node))


def _kind(schema: Schema) -> str:
    """The type in words; a choice is its values."""
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if "anyOf" in schema:
        return "text"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    words = {
        "string": "text",
        "integer": "number",
        "boolean": "true or false",
        "array": "list",
        "object": "map",
    }
    return " or ".join(words[kind] for kind in kinds if kind != "null") + _bounds(schema)


def _bounds(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        return ""
    return f", {low} to {high}" if high is not None else f", {low} or more"


def _linked(text: str) -> str:
    """Pages of the documents as links, and pipes as a cell of a table needs them."""
    return re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", text).replace("|", "\\|")


def chart_values(chart: Path) -> str:
    """The page for a chart's folder."""
    files = ChartFiles(chart)
    return INTRODUCTION + "".join(_section(files, title, groups) for title, groups in SECTIONS.items())


def _section(files: ChartFiles, title: str, groups: Sequence[str]) -> str:
    rows = [
        f"| `{one.key}` | {one.kind} | {one.default} | {one.meaning} |"
        for group in groups
        for one in files.values(group)
    ]
    about = [f"- `{group}`: {text}" for group in groups if (text := files.about(group))]
    table = ["| value | type | default | meaning |", "|---|---|---|---|"]
    return "\n".join(["", f"## {title}", "", *about, "", *table, *rows, ""])
