"""How results are shown."""

from utils.llm.offline.answer.blocks import Kind, blocks, demoted
from utils.llm.offline.answer.passages import passages_text
from utils.llm.offline.answer.records import fenced, record_text, shortened
from utils.llm.offline.answer.tables import items_text
from utils.llm.offline.similarity import Similarity
from utils.messages.results import Article, Articles, Items, Record

WORDS = Similarity(None)


def test_a_table_has_every_row_and_no_cell_breaks_it():
    rows = [{"number": n, "title": f"a | b\nc {n}", "labels": ["x", "y"], "empty": None} for n in range(60)]
    text = items_text(Items(kind="issues", items=rows, total=60), "a/b, open")
    lines = text.split("\n")
    assert lines[0] == "**60 issues** — a/b, open"
    assert lines[2] == "| # | Title | Labels |"
    assert lines[4] == "| 0 | a \\| b c 0 | x, y |"
    assert len([line for line in lines if line.startswith("|")]) == 62


def test_an_empty_list_is_said_in_a_sentence():
    assert items_text(Items(kind="issues", items=[]), "a/b") == "There are no issues — a/b."
    for kind, one in (("repositories", "repository"), ("entries", "entry"), ("files", "file")):
        assert items_text(Items(kind=kind, items=[{"name": "x"}], total=1)).startswith(f"**1 {one}**")


def test_times_are_short_and_addresses_are_links():
    rows = [{"name": "v1", "created": "2026-03-18T12:00:00Z", "html_url": "https://x/1"}]
    assert "| [v1](https://x/1) | 2026-03-18 12:00 |" in items_text(Items(kind="releases", items=rows))


def test_a_record_lists_its_fields_and_fences_long_ones():
    item = {"number": 3, "title": "T", "state": "open", "body": "line one\nline two", "url": "https://x/3"}
    text = record_text(Record(kind="issue", item=item, note="Comments left out."))
    assert text.startswith("**Issue #3: T**\n\n- State: open\n- Link: https://x/3")
    assert "Body:\n\n```\nline one\nline two\n```" in text
    assert text.endswith("Comments left out.")


def test_a_long_log_keeps_its_end():
    log = "\n".join(f"line {n}" for n in range(500)) + "\nBOOM"
    text = record_text(Record(kind="job log", item={"log": log}))
    assert "BOOM" in text
    assert "line 250\n" not in text
    assert "lines left out" in text


def test_a_text_with_fences_gets_a_longer_fence():
    assert fenced("```\nx\n```").startswith("````\n")
    assert shortened("a\nb") == "a\nb"


def test_blocks_keep_code_whole_and_close_open_fences():
    parts = blocks("# T\ntext\n\n- a\n  more\n\n- b\n\n```py\nx\n\ny\n```\n| a |\n|---|\n\n```\nopen")
    assert [part.kind for part in parts] == [
        Kind.HEADING,
        Kind.PARAGRAPH,
        Kind.LIST,
        Kind.CODE,
        Kind.TABLE,
        Kind.CODE,
    ]
    assert parts[3].text == "```py\nx\n\ny\n```"
    assert parts[5].text.endswith("```")


def test_headings_go_down_a_level_but_not_in_code():
    assert demoted("# a\n```\n# b\n```") == "## a\n```\n# b\n```"


def article(content, title="Guide", url="docs/guide.md", **metadata):
    return Article(title=title, url=url, content=content, score=1.0, metadata=metadata)


def test_an_extract_consists_of_the_passage_and_its_source_only():
    content = "To add a tool:\n\n```bash\nmake tool\n```"
    text = passages_text(
        "How do I add a tool?", Articles(articles=[article(content, heading="Tools")]), WORDS
    )
    assert text == f"{content}\n\nSources:\n- Guide › Tools — docs/guide.md"


def test_a_long_passage_is_cut_to_what_answers_and_keeps_its_code():
    filler = "\n\n".join(
        f"Paragraph {n} speaks of gardens, rivers and the weather at length. " * 3 for n in range(20)
    )
    content = f"{filler}\n\nTo rotate the signing key, run this command:\n\n```bash\nrotate-key --now\n```\n\n{filler}"
    text = passages_text("How do I rotate the signing key?", Articles(articles=[article(content)]), WORDS)
    assert "rotate-key --now" in text
    assert len(text) < 2600


def test_sentences_of_a_long_paragraph_stay_in_order():
    filler = "The garden is large and green in the summer months of the year. " * 6
    content = f"{filler}The default port is 8000. {filler}Another port is taken when it is busy. {filler}"
    text = passages_text("What is the default port?", Articles(articles=[article(content)]), WORDS)
    assert text.index("default port is 8000") < text.index("Another port")


def test_what_does_not_answer_is_said_not_to():
    found = Articles(articles=[article("Bananas are yellow.")])
    text = passages_text("How do I rotate the signing key?", found, WORDS)
    assert text.startswith("I found nothing about that in the documents. The nearest passages are:")
    assert "Bananas" not in text


def test_the_note_of_an_empty_result_is_kept():
    text = passages_text("x", Articles(articles=[], note="Documents are still being read."), WORDS)
    assert text == "I found nothing about that in the documents.\n\nDocuments are still being read."
