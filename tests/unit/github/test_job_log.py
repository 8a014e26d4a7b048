from __future__ import annotations

import sys

from agents.github.tools.joblog import JobLog, clean, window_of

START, END = "2026-01-01T10:00:00Z", "2026-01-01T10:00:05Z"


def read(lines: list[str], *, tail: int = 3, step: tuple[object, object] | None = None) -> JobLog:
    log = JobLog(tail, window_of(*step) if step else None)
    for line in lines:
        log.add(line)
    return log


def at(second: int, text: str) -> str:
    return f"2026-01-01T10:00:{second:02d}.1234567Z {text}"


def test_an_error_of_another_step_does_not_count():
    lines = [at(1, "##[error]tests failed"), at(30, "##[error]cache not saved")]
    log = read(lines, step=(START, END))
    assert log.errors == ["tests failed"]
    assert log.excerpt == ["##[error]tests failed"]


def test_the_last_second_of_a_step_belongs_to_it():
    assert read([at(5, "##[error]late")], step=(START, END)).errors == ["late"]


def test_times_with_an_offset_are_the_same_times():
    step = ("2026-01-01T02:00:00.000-08:00", "2026-01-01T02:00:05.000-08:00")
    assert read([at(3, "##[error]here"), at(9, "##[error]there")], step=step).errors == ["here"]


def test_lines_without_a_time_belong_to_the_line_before_them():
    log = read(
        [at(1, "Traceback"), "  File x", "##[error]boom", at(9, "later"), "##[error]other"], step=(START, END)
    )
    assert log.excerpt == ["Traceback", "  File x", "##[error]boom"]


def test_without_a_known_step_every_error_counts_and_the_last_is_shown_with_its_surroundings():
    lines = [
        at(1, "##[error]first"),
        at(2, "working"),
        at(3, "##[error]second"),
        at(4, "a"),
        at(4, "b"),
        at(4, "c"),
        at(4, "d"),
    ]
    log = read(lines)
    assert log.errors == ["first", "second"]
    assert log.excerpt == ["##[error]first", "working", "##[error]second", "a", "b", "c"]


def test_a_step_without_times_is_no_step():
    assert window_of(None, END) is None
    assert window_of("yesterday", END) is None
    assert window_of("2026-01-01T10:00:00", END) is None


def test_colours_times_and_the_byte_order_mark_are_taken_out():
    assert clean("\ufeff2026-01-01T10:00:00.0000000Z \x1b[31;1mred\x1b[0m text") == "red text"


def test_a_log_without_end_takes_little_memory():
    log = JobLog(10)
    for number in range(50_000):
        log.add(f"2026-01-01T10:00:00.0Z ##[error]{'x' * 500}{number % 50}")
    assert log.lines == 50_000
    held = [*log.tail, *log.excerpt, *log.errors]
    assert sum(sys.getsizeof(line) for line in held) < 50_000
