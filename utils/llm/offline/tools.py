"""The bound tools as the router sees them, and the form in which they travel with a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from utils.llm.offline.entities import repository
from utils.llm.offline.grammar import FORMS, LEXICON
from utils.messages.repeatable import CHANGES
from utils.messages.tool_examples import split_examples

NAMES = {taken: frozenset(names.split()) for taken, names in LEXICON["parameters"].items()}
"""Names of parameters, by what they take."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool, from its JSON schema. `longest` is in characters, `default` is what holds where nothing is given."""

    name: str
    kind: str
    required: bool
    choices: tuple[str, ...] = ()
    format: str = ""
    longest: int | None = None
    default: Any = None

    @property
    def names_its_subject(self) -> bool:
        """Whether a number without a word before it may be meant: what a tool shows, not a line or an attempt."""
        return self.required or self.name in {"number", "run_id", "pull_number", "issue_number"}

    @property
    def is_identifier(self) -> bool:
        """Whether it names one thing by its number or hash."""
        if self.kind == "integer":
            return self.name not in NAMES["limit"] | {"page", "first_line"}
        return self.required and self.name in NAMES["hash"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool: its name, what it is for, requests that it answers, its arguments, whether they ask for a change.

    `summary` says for people what it is for; the description is for models.
    """

    name: str
    description: str
    examples: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    changes: bool = False
    summary: str = ""

    @property
    def text_parameter(self) -> Parameter | None:
        """The parameter that takes free text, where there is one."""
        names = NAMES["delegating"] | NAMES["free_text"]
        return next((p for p in self.parameters if p.name in names and p.kind == "string"), None)

    @property
    def delegates(self) -> bool:
        """Whether the tool hands the request to another agent."""
        return any(p.name in NAMES["delegating"] and p.required for p in self.parameters)

    @property
    def needed(self) -> list[str]:
        """Names of the parameters that it cannot be called without."""
        return [p.name for p in self.parameters if p.required]

    @property
    def written(self) -> str:
        """The argument in which a change puts a text as the user wrote it; its examples have it in quotation marks. Empty where it has none."""
        named = NAMES["owner"] | NAMES["repository"] | NAMES["label"]
        texts = (p.name for p in self.parameters if p.required and p.kind == "string" and p.name not in named)
        return next(texts, "") if self.changes and any('"' in each for each in self.examples) else ""

    @property
    def takes_repository(self) -> bool:
        """Whether it asks about a repository."""
        if self.delegates:
            return bool(_naming_a_repository(self.examples))
        return self.accepts(*NAMES["repository"])

    @property
    def compares(self) -> bool:
        """Whether it shows what one branch, tag or commit has that another has not."""
        return self.accepts("base") and self.accepts("head") and not self.changes

    @property
    def identifiers(self) -> list[str]:
        """Names of the parameters that name one thing by its number or hash."""
        return [p.name for p in self.parameters if p.is_identifier]

    @property
    def shows_one(self) -> bool:
        """Whether it needs the number, id or hash of one thing."""
        return any(p.required and p.is_identifier for p in self.parameters)

    @property
    def is_library(self) -> bool:
        """Whether it answers questions about anything, as documents can: free text is all it needs and most examples are questions."""
        text = self.text_parameter
        if not text or self.needed != [text.name] or self.noun or self.about_repositories:
            return False
        asked = sum(bool(FORMS["question_word"].match(example)) for example in self.examples)
        return bool(self.examples) and asked * 2 >= len(self.examples)

    @property
    def about_repositories(self) -> bool:
        """Whether most examples of an agent name a repository: a request that names none is hardly for it."""
        if not self.delegates:
            return False
        named = _naming_a_repository(self.examples)
        return bool(named) and named * 2 >= len(self.examples)

    @property
    def noun(self) -> str:
        """What the tool is about, from its name: "pull requests" for `list_pull_requests`."""
        return " ".join(self.name.split("_")[1:])

    def accepts(self, *names: str) -> bool:
        """Whether it has a parameter of one of these names."""
        return any(p.name in names for p in self.parameters)

    @property
    def fillable(self) -> bool:
        """Whether its required arguments can come from a sentence: objects and lists of objects cannot."""
        return all(p.kind != "object" for p in self.parameters if p.required)


@lru_cache(maxsize=64)
def _naming_a_repository(examples: tuple[str, ...]) -> int:
    """How many do; asked for each clause of a request and never another number for the same tool."""
    return sum(repository(example) is not None for example in examples)


def payload(tool: Any) -> dict[str, Any]:
    """A tool as plain JSON that keeps its examples and `changes`, which the OpenAI form has no place for."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    converted = dict(convert_to_openai_tool(tool))
    told = tool.get("metadata") if isinstance(tool, dict) else getattr(tool, "metadata", None)
    metadata = told or {}
    function = dict(converted.get("function", {}))
    function["description"], shown = split_examples(function.get("description", ""))
    converted["function"] = function
    converted["examples"] = [str(text) for text in metadata.get("examples", ())] or shown
    converted["changes"] = bool(metadata.get(CHANGES))
    converted["summary"] = str(metadata.get("summary", ""))
    return converted


def specs(payloads: Sequence[Mapping[str, Any]]) -> list[ToolSpec]:
    """The tools of a call, those left out whose arguments a sentence cannot give."""
    found = [_spec(value) for value in payloads if isinstance(value.get("function"), Mapping)]
    return [spec for spec in found if spec.fillable]


def _spec(value: Mapping[str, Any]) -> ToolSpec:
    function = value["function"]
    schema = function.get("parameters") or {}
    required, definitions = schema.get("required", ()), schema.get("$defs", {})
    return ToolSpec(
        name=function["name"],
        description=function.get("description", ""),
        examples=tuple(value.get("examples", ())),
        parameters=tuple(
            _parameter(name, field, name in required, definitions)
            for name, field in schema.get("properties", {}).items()
        ),
        changes=bool(value.get("changes")),
        summary=value.get("summary", ""),
    )


def _parameter(
    name: str, field: Mapping[str, Any], required: bool, definitions: Mapping[str, Any]
) -> Parameter:
    shape = dict(field)
    for option in (*field.get("anyOf", ()), *field.get("allOf", ())):
        if option.get("type") != "null":
            shape |= option
    reference = shape.get("$ref", "").rsplit("/", 1)[-1]
    shape = dict(definitions.get(reference, {})) | shape
    choices = tuple(str(choice) for choice in shape.get("enum", ()) if choice is not None)
    kind = str(shape.get("type", "string"))
    if kind == "array":
        items = shape.get("items", {})
        choices = choices or tuple(str(choice) for choice in items.get("enum", ()))
        kind = "object" if items.get("type") == "object" or "$ref" in items else "array"
    return Parameter(
        name,
        kind,
        required,
        choices,
        str(shape.get("format", "")),
        shape.get("maxLength"),
        field.get("default"),
    )
