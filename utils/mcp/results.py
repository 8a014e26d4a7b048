"""Describes a result of an unknown form. Pure."""

from __future__ import annotations

from pydantic import ValidationError

from utils.mcp.words import quoted

_KNOWN = frozenset({"text", "image", "audio", "resource_link", "resource"})
_LONGEST_KIND = 60


def unknown_result(tool: str, error: ValidationError) -> str:
    """A sentence about a result that does not conform to the protocol. The server has carried out the call."""
    found = error.errors(include_url=False)
    kinds = [
        each["input"]
        for each in found
        if each["loc"][:1] == ("content",) and each["loc"][-1] == "type" and isinstance(each["input"], str)
    ]
    named = [quoted(kind, _LONGEST_KIND) for kind in dict.fromkeys(kinds) if kind not in _KNOWN]
    if named:
        return f"The tool {tool} answered with content of a kind that is not known here: {', '.join(named)}."
    fields = dict.fromkeys(str(each["loc"][0]) for each in found if each["loc"])
    parts = " and ".join(f"`{name}`" for name in fields) or "result"
    return f"The tool {tool} answered, but its {parts} does not have a form that MCP knows."
