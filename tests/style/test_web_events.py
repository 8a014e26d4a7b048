"""The page reads the payloads of our extensions in a language of its own: what an agent sends is known there too."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from utils.a2a_common.protocol.extensions import _KINDS
from utils.events import Usage

SOURCES = Path(__file__).resolve().parents[2] / "multi_agents/web/src"
NOT_SHOWN: frozenset[str] = frozenset()
"""Kinds of activity, and fields of a usage, that the page leaves out on purpose."""


def _source(path: str) -> str:
    return (SOURCES / path).read_text("utf-8")


def test_the_page_knows_each_kind_of_activity_or_leaves_it_out_on_purpose():
    shown = set(re.findall(r'^ *case "(\w+)":', _source("turn/calls.ts"), re.MULTILINE))
    assert shown == set(_KINDS) - NOT_SHOWN


def test_the_page_reads_each_field_of_a_usage_or_leaves_it_out_on_purpose():
    told = re.findall(r'read\("(\w+)"\)', _source("wire/extensions.ts"))
    assert sorted(told) == sorted({each.name for each in fields(Usage)} - NOT_SHOWN)
