"""Entries are added to YAML with its comments kept, or not at all."""

import pytest
import yaml

from multi_agents.cli.scaffold.yaml_edits import CannotEdit, add_entry, append_to_scalar, remove_key


@pytest.mark.parametrize(
    "text, path, entry, wanted",
    [
        ("", (), "b: 2", "b: 2\n"),
        ("# only words\n", (), "b: 2", "# only words\n\nb: 2\n"),
        ("a: 1", (), "b: 2", "a: 1\nb: 2\n"),
        ("a: 1 # one\n# end\n", (), "b: 2", "a: 1 # one\nb: 2\n# end\n"),
        ("a:\n  x: 1\n\nc:\n  y: 1\n", (), "b:\n  z: 2", "a:\n  x: 1\n\nc:\n  y: 1\n\nb:\n  z: 2\n"),
        ("a:\n  - x: 1\n    y: 2\nz: 0\n", ("a",), "- x: 3", "a:\n  - x: 1\n    y: 2\n  - x: 3\nz: 0\n"),
        ("a:\n- 1\nz: 0\n", ("a",), "- 2", "a:\n- 1\n- 2\nz: 0\n"),
        ("a: [] # none\nz: 0\n", ("a",), "- x: 3", "a:    # none\n  - x: 3\nz: 0\n"),
        ("a: {}\n", ("a",), "b: 2", "a:\n  b: 2\n"),
        ("a:\nz: 0\n", ("a",), "b: 2", "a:\n  b: 2\nz: 0\n"),
        ("a:\n  b: |\n    text\n    more\n\nz: 0\n", ("a",), "c: 1", "a:\n  b: |\n    text\n    more\n  c: 1\n\nz: 0\n"),
        ("x: &x {k: 1}\na:\n  b:\n    <<: *x\nz: 0\n", ("a",), "c: *x", "x: &x {k: 1}\na:\n  b:\n    <<: *x\n  c: *x\nz: 0\n"),
        ("a:\n  b: 'it # is'\n", ("a",), "c: 1", "a:\n  b: 'it # is'\n  c: 1\n"),
        ("a:\n  b:\n", ("a",), "c:", "a:\n  b:\n  c:\n"),
        ("# about a\na: {x: 1}\nz: 0\n", ("a",), "b: 2", "# about a\na: {x: 1, b: 2}\nz: 0\n"),
        ("a: [x] # all\n", ("a",), "- y", "a: [x, y] # all\n"),
        ("a:\n    b: 1\n    c:\n        - 1\nz: 0\n", ("a",), "d: 2", "a:\n    b: 1\n    c:\n        - 1\n    d: 2\nz: 0\n"),
        ("a:\n  b:\n    c: [1] # one\n\n# about z\nz: 0 # nought\n", ("a",), "d: 2", "a:\n  b:\n    c: [1] # one\n  d: 2\n\n# about z\nz: 0 # nought\n"),
        ("q: \"1\"\np: 'it''s'\no: yes\nn: 0x1F\nm: 1_000\na:\n  b: 1\n", ("a",), "c: 2", "q: \"1\"\np: 'it''s'\no: yes\nn: 0x1F\nm: 1_000\na:\n  b: 1\n  c: 2\n"),
        (f"w: {'word ' * 60}end\na:\n  b: 1\n", ("a",), "c: 2", f"w: {'word ' * 60}end\na:\n  b: 1\n  c: 2\n"),
    ],
)  # fmt: skip
def test_an_entry_is_added_at_the_end_of_its_block(text, path, entry, wanted):
    changed = add_entry(text, path, entry)
    assert changed == wanted
    assert yaml.safe_load(changed)


@pytest.mark.parametrize(
    "text, path, entry",
    [
        ("{a: 1}\n", (), "b: 2"),
        ("x: &x {k: 1}\na: *x\n", ("a",), "b: 2"),
        ("x: &x\n  a:\n    b: 1\ny:\n  <<: *x\n", ("y", "a"), "c: 2"),
        ("a: 1\n---\nb: 1\n", (), "c: 2"),
        ("a: 1\na: 2\n", (), "c: 2"),
        ('a: ""\n', ("a",), "c: 2"),
        ("a: [1]\n", ("a",), "b: 2"),
        ("a: 1\n", ("b",), "c: 2"),
        ("a: [\n", (), "b: 2"),
        ("a: text\n", ("a",), "b: 2"),
        ("a:\n  b: 1\n", ("a",), "c: *nowhere"),
        ("a: 1\n", (), "a: 2"),
        ("- 1\n", (), "b: 2"),
    ],
)
def test_what_cannot_be_added_is_refused(text, path, entry):
    with pytest.raises(CannotEdit):
        add_entry(text, path, entry)


@pytest.mark.parametrize(
    "value, wanted",
    [("x=1 # c", "x=1,y=2 # c"), ('"x=1"', '"x=1,y=2"'), ("'x=1'", "'x=1,y=2'")],
)
def test_a_value_on_one_line_is_lengthened(value, wanted):
    assert append_to_scalar(f"a:\n  b: {value}\n", ("a", "b"), ",y=2") == f"a:\n  b: {wanted}\n"


@pytest.mark.parametrize("value", ["[x]", "|\n    x", "", "{}"])
def test_another_value_is_not_lengthened(value):
    with pytest.raises(CannotEdit):
        append_to_scalar(f"a:\n  b: {value}\n", ("a", "b"), ",y=2")


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("a: 1\nb: 2\n", "a: 1\n"),
        ("b: 2\n", "\n"),
        ("# head\n\na:\n  x: 1\n\nb:\n  y: 2 # c\n\nc: 3\n", "# head\n\na:\n  x: 1\n\nc: 3\n"),
        ("a: 1\n\nb:\n  - 1\n", "a: 1\n"),
        ("b: 2\na: 1\n", "a: 1\n"),
    ],
)
def test_an_entry_is_removed_and_the_rest_stays(text, wanted):
    assert remove_key(text, "b") == wanted


def test_an_entry_that_is_not_there_is_not_removed():
    with pytest.raises(CannotEdit):
        remove_key("{b: 1}\n", "b")


def test_the_layout_that_keeps_every_line_is_found_whichever_it_is():
    deep = "a:\n    b:\n      - c\n      - d\n"
    flat = "a:\n  b:\n  - c\n  - d\n"
    for text in (deep, flat):
        changed = add_entry(text, ("a", "b"), "- e")
        assert changed.splitlines()[:-1] == text.splitlines()
