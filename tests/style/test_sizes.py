"""Files and functions stay small enough to hold in the head."""

from tests.style.sources import functions, lines_of, python_files, short

LONGEST_FILE = 400
LONGEST_FUNCTION = 60


def test_no_file_is_longer_than_400_lines():
    long = {short(path): len(lines_of(path)) for path in python_files() if len(lines_of(path)) > LONGEST_FILE}
    assert not long


def test_no_function_is_longer_than_60_lines():
    long = {
        f"{short(path)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path in python_files()
        for node in functions(path)
        if node.end_lineno and node.end_lineno - node.lineno >= LONGEST_FUNCTION
    }
    assert not long
