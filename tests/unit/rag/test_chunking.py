"""Documents are cut by their structure."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.rag.ingest.chunk import chunk_document
from agents.rag.ingest.markdown import parse_markdown
from agents.rag.ingest.pieces import count_pieces
from utils.embeddings.minilm import TOKENIZER

SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "
TARGET = 100


def chunks(text: str, target: int = TARGET, overlap: int = 32):
    return chunk_document(parse_markdown(text, "t"), target, overlap)


def paragraphs(count: int) -> str:
    return "\n\n".join(f"Paragraph {n}. " + SENTENCE * 3 for n in range(count))


def test_a_section_that_fits_is_one_chunk_with_its_heading_path() -> None:
    found = chunks("# T\n\n## A\n\nfirst\n\n```\ncode\n```\n\n## B\n\n### C\n\nsecond")
    assert [(c.path, c.anchor, c.text) for c in found] == [
        (("A",), "a", "first\n\n```\ncode\n```"),
        (("B", "C"), "c", "second"),
    ]


def test_a_large_section_is_split_between_paragraphs_with_one_sentence_of_overlap() -> None:
    found = chunks("# T\n\n" + paragraphs(5))
    assert len(found) > 1
    for before, after in pairwise(found):
        assert after.text.startswith(SENTENCE.strip())
        assert before.text.endswith(SENTENCE.strip())
    assert [c.position for c in found] == list(range(len(found)))


def test_there_is_no_overlap_between_sections() -> None:
    found = chunks(f"# T\n\n## A\n\n{paragraphs(1)}\n\n## B\n\nOther.")
    assert found[-1].text == "Other."


def test_code_that_fits_is_never_cut() -> None:
    code = "```python\n" + "value = compute(1)\n" * 12 + "```"
    assert count_pieces(code) < TARGET
    found = chunks(f"# T\n\n{paragraphs(2)}\n\n{code}\n\n{paragraphs(1)}")
    assert sum(code in c.text for c in found) == 1


def test_oversized_code_is_cut_at_lines_and_keeps_its_fence() -> None:
    found = chunks("# T\n\n```python\n" + "".join(f"line_{n} = {n}\n" for n in range(80)) + "```")
    assert len(found) > 2
    for chunk in found:
        assert chunk.text.startswith("```python\n")
        assert chunk.text.endswith("\n```")
    lines = [line for c in found for line in c.text.split("\n") if line.startswith("line_")]
    assert lines == [f"line_{n} = {n}" for n in range(80)]


def test_an_oversized_table_repeats_its_header() -> None:
    found = chunks(
        "# T\n\n| name | value |\n|---|---|\n" + "".join(f"| row {n} | {n} |\n" for n in range(60))
    )
    assert len(found) > 2
    assert all(c.text.startswith("| name | value |\n|---|---|\n| row ") for c in found)


def test_a_frame_that_is_itself_too_large_is_not_repeated() -> None:
    wide = "|" + " column |" * 90
    found = chunks(f"# T\n\n{wide}\n{'|-' * 90}|\n" + "| 1 |\n" * 60)
    assert sum(wide in c.text for c in found) <= 1
    assert max(count_pieces(c.text) for c in found) <= TARGET * 1.15


def test_an_item_that_holds_code_stays_whole() -> None:
    item = "- Do this:\n\n  ```sh\n  run it\n  ```\n"
    found = chunks(f"# T\n\n{paragraphs(2)}\n\n{item}")
    assert any("- Do this:\n\n  ```sh\n  run it\n  ```" in c.text for c in found)


def test_text_without_spaces_is_cut_all_the_same() -> None:
    found = chunks("# T\n\n" + "漢字" * 400)
    assert len(found) > 2
    assert max(count_pieces(c.text) for c in found) <= TARGET * 1.5


@given(
    st.lists(
        st.sampled_from(
            [
                "# H\n",
                "## I\n",
                "text. More text. ",
                SENTENCE * 4,
                "```\ncode\n\n```\n",
                "- item\n",
                "|a|b|\n|-|-|\n|1|2|\n",
                "\n\n",
                "> q\n",
                "x" * 900,
            ]
        ),
        max_size=25,
    ).map("\n".join)
)
@settings(max_examples=60, deadline=None)
def test_no_word_is_lost_and_chunks_stay_in_size(text: str) -> None:
    document = parse_markdown(text, "t")
    found = chunk_document(document, TARGET)
    covered = set[int]()
    for chunk in found:
        covered |= set(range(chunk.start, chunk.end))
        assert count_pieces(chunk.text) <= TARGET * 1.15 + 40
    for section in document.sections:
        for block in section.blocks:
            missing = [document.text[at] for at in range(block.start, block.end) if at not in covered]
            assert not "".join(missing).strip()


def test_the_estimate_of_word_pieces_is_near_the_tokenizer() -> None:
    from pathlib import Path

    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_truncation()
    for name in ("AGENTS.md", "utils/errors.py", "pyproject.toml"):
        text = (Path(__file__).parents[3] / name).read_text(encoding="utf-8")
        real = len(tokenizer.encode(text, add_special_tokens=False).ids)
        assert 0.85 < count_pieces(text) / real < 1.15, name
