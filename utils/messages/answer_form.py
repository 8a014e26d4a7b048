"""The form that a request names for its answer, such as a table or a CSV file. Pure."""

from __future__ import annotations

import re

_SHEET = r"(?:csv|spread\s?sheet|excel|tabellenkalkulation|tableur|hoja de c[áa]lculo)"
_TABLE = r"(?:table|tabelle|tableau|tabla)"
_INTO = r"(?:as|in|into|to|als|en|como|sous forme de|in the form of|formatted as)\s+(?:an?\s+|the\s+|un\s+|una\s+|eine\s+)?(?:markdown\s+)?"
_AFTER = r"(?:[\s-]+(?:files?|formats?|form|sheet|export|table|datei|fichier|archivo))?\b"

_CSV = re.compile(
    rf"\b{_INTO}{_SHEET}{_AFTER}|\bfor\s+(?:an?\s+|the\s+|my\s+)?(?:spread\s?sheet|excel)\b|\b(?:csv|excel)\s+(?:file|of)\b"
    r"|(?:作为|导出为|导出成|以)\s*(?:csv|excel)|(?:csv|excel)\s*(?:で|形式|として|格式|文件)",
    re.IGNORECASE,
)
_FORM = re.compile(rf"(?:{_CSV.pattern})|\b{_INTO}{_TABLE}{_AFTER}", re.IGNORECASE)

LOOKED_AT = 2_000
"""Characters at the beginning and at the end of a request that may name the form: what lies between them in a longer one is data
that was pasted in. The pattern takes 0.4 µs a character, on the event loop."""


def wants_csv(request: str) -> bool:
    """Whether a request asks for rows as a CSV file, or for a spreadsheet, in its first or last words."""
    if len(request) <= 2 * LOOKED_AT:
        return _CSV.search(request) is not None
    return any(_CSV.search(part) for part in (request[:LOOKED_AT], request[-LOOKED_AT:]))


def without_form(request: str) -> str:
    """A request without the words that name the form of its answer."""
    return _FORM.sub(" ", request)
