"""What a rule is, and what breaks it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """One change of the product's code.

    Attributes:
        where: `path/of/module.py::Class.method`, the path from the root of the checkout; only the path where the code
            stands at the module's top level.
        old: The statements or the expression that stand there once, in any layout; in a file that is not Python, text.
        new: What takes their place.
    """

    where: str
    old: str
    new: str

    @property
    def file(self) -> str:
        """The module's path."""
        return self.where.partition("::")[0]

    @property
    def symbol(self) -> str:
        """The qualified name inside the module; empty for its top level."""
        return self.where.partition("::")[2]

    @property
    def is_code(self) -> bool:
        """Whether it changes Python code, found by its syntax."""
        return self.file.endswith(".py")


@dataclass(frozen=True)
class Break:
    """One way to break a rule: edits that together violate it, and the tests that each must go red.

    Attributes:
        name: What the broken product does, in a few words.
        edits: The changes; more than one where a second guard would hold.
        tests: Node ids as pytest takes them, without parameters.
    """

    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """A promise.

    Attributes:
        id: Short and stable, such as `wire-05`.
        sentence: The promise.
        breaks: The ways to break it, at least one.
    """

    id: str
    sentence: str
    breaks: tuple[Break, ...]


def broken(name: str, where: str, old: str, new: str, *tests: str) -> Break:
    """A break that is one edit."""
    return Break(name, (Edit(where, old, new),), tests)
