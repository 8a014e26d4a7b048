"""What a rule is, and what breaks it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """One change of the product.

    Attributes:
        file: Path from the root of the checkout.
        old: Text that stands there exactly once.
        new: What takes its place.
    """

    file: str
    old: str
    new: str


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


def broken(name: str, file: str, old: str, new: str, *tests: str) -> Break:
    """A break that is one edit."""
    return Break(name, (Edit(file, old, new),), tests)
