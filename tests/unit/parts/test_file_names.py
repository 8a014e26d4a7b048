"""Names that a peer chose, as one path component that can be shown and saved."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.a2a_common.protocol.file_names import LONGEST_NAME, safe_file_name
from utils.messages.invisible import invisible_in


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("invoice 42.pdf", "invoice 42.pdf"),
        ("Übersicht.md", "Übersicht.md"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\report.csv", "report.csv"),
        ("/", "file"),
        ("", "file"),
        ("..", "file"),
        (".bashrc", "bashrc"),
        ("con.txt", "_con.txt"),
        ("LPT1", "_LPT1"),
        ("a\nb\tc.txt", "a b c.txt"),
        ("fdp\u202egpj.exe", "fdpgpj.exe"),
        ('a<b>:"c|?*`.txt', "a_b___c____.txt"),
        ("x" * 300 + ".pdf", "x" * 196 + ".pdf"),
        ("ü" * 300 + ".pdf", "ü" * 98 + ".pdf"),
        ("x" * 300 + "." + "y" * 300, "x" * 200),
    ],
)
def test_a_name_becomes_one_safe_component(name: str, safe: str) -> None:
    assert safe_file_name(name) == safe


@given(st.text())
def test_whatever_a_peer_calls_a_file_the_name_can_be_shown_and_saved(name: str) -> None:
    safe = safe_file_name(name)
    assert safe
    assert not set(safe) & set('/\\<>:"|?*`\0\n\t')
    assert not safe.startswith(".")
    assert len(safe.encode()) <= LONGEST_NAME
    assert not invisible_in(safe)
    assert safe == safe.strip()
    assert not any(unicodedata.category(one) == "Cc" for one in safe)


@given(st.text())
def test_a_safe_name_stays_as_it_is(name: str) -> None:
    safe = safe_file_name(name)
    assert safe_file_name(safe) == safe
