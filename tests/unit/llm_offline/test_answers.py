"""How results are shown."""

import numpy as np
import pytest

from tests.unit.rag.conftest import WordEmbedder
from utils.llm.offline.answer.blocks import blocks, demoted
from utils.llm.offline.answer.passages import briefly, passages_text
from utils.llm.offline.answer.records import fenced, items_text, record_text, shortened
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
    for kind, one in (
        ("repositories", "repository"),
        ("entries", "entry"),
        ("files", "file"),
        ("branches", "branch"),
    ):
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
        "heading",
        "paragraph",
        "bullet_list",
        "fence",
        "table",
        "fence",
    ]
    assert parts[3].text == "```py\nx\n\ny\n```"
    assert parts[5].text.endswith("```")


def test_headings_go_down_a_level_but_not_in_code():
    assert demoted("# a\n```\n# b\n```") == "## a\n```\n# b\n```"


def article(content, title="Guide", url="docs/guide.md", **metadata):
    return Article(title=title, url=url, content=content, score=1.0, metadata=metadata)


def test_an_answer_is_the_section_under_its_heading_and_the_next_two_as_links():
    content = "To add a tool:\n\n```bash\nmake tool\n```"
    others = [article("Bananas are kept.", heading=f"Other {n}", url=f"docs/o.md#{n}") for n in range(3)]
    for other in others:
        other.score = 0.3
    text = passages_text(
        "How do I add a tool?", Articles(articles=[article(content, heading="Tools"), *others]), WORDS
    )
    assert text == (
        f"**Tools** \u2014 docs/guide.md\n\n{content}\n\n"
        "See also:\n- Guide \u203a Other 0 \u2014 docs/o.md#0\n- Guide \u203a Other 1 \u2014 docs/o.md#1"
    )


def test_the_sections_of_several_things_that_are_asked_share_a_screen():
    where, how = "where is the data stored", "how do I back it up"
    stored = article(
        "\n\n".join(f"Fact {n} of it." for n in range(60)), heading="Where is the data stored?", url="a.md"
    )
    saved = article("Copy the folder.", heading="How do I back it up?", url="b.md")
    text = passages_text(f"{where} and {how}", Articles(articles=[stored, saved]), WORDS)
    assert [line.split("**")[1] for line in text.splitlines() if line.startswith("**")] == [
        "Where is the data stored?",
        "How do I back it up?",
    ]


def sections_for(parts, *others):
    """A long first section that fits, others, and for each part a section that the search ranks as it says."""
    first = article(
        "\n\n".join(f"Fact {n} of it." for n in range(60)), heading="Facts of the whole", url="a.md"
    )
    found = [article("Gardens.", heading=f"The whole, part {n}", url=f"o{n}.md") for n in range(5)]
    for part, (heading, score) in parts.items():
        one = article("Copy the folder.", heading=heading, url=f"{heading}.md", parts={part: score})
        found.append(one.model_copy(update={"score": 0.2}))
    return Articles(articles=[first, *found, *others])


def headings(text):
    return [line.split("**")[1] for line in text.splitlines() if line.startswith("**")]


def test_each_part_of_a_question_has_room_for_the_section_that_the_search_ranks_first_for_it():
    part = "how is the folder copied"
    found = sections_for({part: ("Copy the folder", 1.0)})
    text = passages_text(f"Facts of the whole and {part}", found, WORDS)
    assert headings(text)[:2] == ["Facts of the whole", "Copy the folder"]
    assert "I am not sure" not in text


@pytest.mark.parametrize(("heading", "score"), [("What do we lose?", 0.7), ("Gardens and the weather", 1.0)])
def test_a_part_of_a_question_that_no_section_fits_is_named(heading, score):
    part = "what do we lose then"
    found = sections_for({part: (heading, score)})
    text = passages_text(f"Facts of the whole and {part}", found, WORDS)
    assert text.startswith(
        f"I am not sure that these sections answer this part: {part}\n\n**Facts of the whole**"
    )
    assert heading not in headings(text)[:2]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("How do I rotate the folder key in HashiCorp Vault?", "HashiCorp Vault"),
        ("does the folder key need python 3.9 or newer", "3.9"),
        ("How do I rotate the folder key, on Friday, with Ctrl-C? I have GPU and OpenSSL", None),
        ("How do I rotate the folder key of an Open library?", None),
    ],
)
def test_a_name_that_no_section_has_is_named(asked, named):
    found = Articles(articles=[article("Rotate the key of the folder with OpenSSL.", heading="Folder key")])
    text = passages_text(asked, found, WORDS)
    first = text.split("\n")[0]
    assert first == (
        f"No section that I found mentions {named}." if named else "**Folder key** \u2014 docs/guide.md"
    )


def test_what_answers_a_question_in_another_language_is_never_sure():
    found = Articles(articles=[article("Der Port 8000.", heading="Auf welchem Port")])
    assert passages_text("Auf welchem Port hört der Dienst und wie ändere ich das?", found, WORDS).startswith(
        "I am not sure"
    )


def test_beside_other_parts_an_answer_from_documents_is_its_first_sections_and_links():
    whole = "\n\n".join(f"**Part {n}** \u2014 docs/{n}.md#x\n\n" + "It says so.\n" * 9 for n in range(4))
    links = "See also:\n- Guide \u203a Other \u2014 docs/o.md"
    text = briefly("Where is it?", f"{whole}\n\n{links}")
    assert ["**Part 1**" in text, "**Part 2**" in text] == [True, False]
    assert text.endswith("See also:\n- Part 2 \u2014 docs/2.md#x\n- Part 3 \u2014 docs/3.md#x")
    assert briefly("Where is it?", "Only a word.") == "Only a word."
    assert "**Part 2**" in briefly(
        "Where is it stored, how do I back it up and what does it cost?", f"{whole}\n\n{links}"
    )


def test_of_a_section_that_is_longer_than_its_share_the_nearest_blocks_are_shown_in_reading_order():
    filler = [f"Paragraph {n} speaks of gardens and the weather. " * 12 for n in range(9)]
    content = "\n\n".join(
        [*filler[:4], "The signing key is in the vault.", *filler[4:], "Rotate the signing key weekly."]
    )
    text = passages_text(
        "Where is the signing key, and when to rotate it?", Articles(articles=[article(content)]), WORDS
    )
    assert text.index("Paragraph 0") < text.index("in the vault") < text.index("weekly")
    assert "\u2026" in text.split("\n")
    assert sum(len(line) // 100 + 1 for line in text.split("\n")) <= 30


def test_of_a_long_table_the_rows_that_are_nearest_to_the_question_are_shown_whole():
    rows = [
        f"| `SETTING_{n}` | {n} | Something else, number {n}, which nobody asked for here. |"
        for n in range(30)
    ]
    rows[21] = "| `AGENT_TIMEOUT_SECONDS` | 300 | How long an agent is waited for. |"
    table = "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows])
    text = passages_text("how long is an agent waited for", Articles(articles=[article(table)]), WORDS)
    assert rows[21] in text
    assert "22 more rows are left out." in text


def test_a_second_section_is_quoted_too_unless_it_is_much_worse_or_says_the_same():
    copied = article("Copy the folder.", heading="Copy the data", url="docs/a.md")
    restored = article("Put the folder back.", heading="Restore the data", url="docs/b.md")
    text = passages_text("copy the data and restore the data", Articles(articles=[copied, restored]), WORDS)
    assert text == (
        "**Copy the data** \u2014 docs/a.md\n\nCopy the folder.\n\n"
        "**Restore the data** \u2014 docs/b.md\n\nPut the folder back."
    )
    again = article("Copy the folder.", heading="Copy the data", url="docs/c.md")
    text = passages_text("copy the data", Articles(articles=[copied, again]), WORDS)
    assert text.count("Copy the folder.") == 1
    restored.score = 0.3
    text = passages_text("copy the data and restore the data", Articles(articles=[copied, restored]), WORDS)
    assert text.endswith("See also:\n- Guide \u203a Restore the data \u2014 docs/b.md")


class Unlike(WordEmbedder):
    """To it no two texts are alike."""

    def embed_sync(self, texts):
        return np.eye(len(texts), dtype=np.float32)


def test_with_a_model_that_compares_meaning_what_is_about_something_else_is_not_shown():
    found = Articles(articles=[article(f"Bananas are yellow {n}.", url=f"{n}.md") for n in range(4)])
    text = passages_text("How do I rotate the signing key?", found, Similarity(Unlike()))
    assert text == "I found nothing about that in the documents."


def test_what_the_search_finds_near_is_shown_as_uncertain():
    found = Articles(articles=[article(f"Keys are turned {n}.", url=f"{n}.md") for n in range(4)])
    found.articles[2].metadata["similarity"] = 0.52
    text = passages_text("How do I rotate the signing key?", found, Similarity(Unlike()))
    assert text.startswith("I am not sure that the documents answer this.")
    assert text.count("Keys are turned") == 3


def test_a_relative_link_of_a_quoted_section_names_the_page_that_it_leads_to():
    content = (
        "Add it [by its address](#by-its-url), as [agents](./agents.md#all) or [the site](https://x.example/a#b) say, or [on\nKubernetes](agents.md#k8s)."
        "\n\n```md\n[kept](#as-it-is)\n```"
    )
    page = article(content, heading="How do I add an agent?", url="docs/faq.md#how-do-i-add-an-agent")
    text = passages_text("How do I add an agent?", Articles(articles=[page]), WORDS)
    assert "(docs/faq.md#by-its-url)" in text
    assert "(docs/agents.md#all)" in text
    assert "(docs/agents.md#k8s)" in text
    assert "(https://x.example/a#b)" in text
    assert "[kept](#as-it-is)" in text
    web = article("See [more](../more.html#x).", heading="Agents", url="https://x.example/docs/a.html#agents")
    text = passages_text("What are agents?", Articles(articles=[web]), WORDS)
    assert "(https://x.example/more.html#x)" in text


def test_a_section_whose_heading_asks_the_question_is_quoted_before_one_that_only_speaks_of_it():
    speaks = article(
        "The log level is in the log. The level of the log is set.", heading="Traces", url="a.md"
    )
    asks = article("Put it into the file.", heading="How do I set the log level?", url="b.md")
    text = passages_text("How do I set the log level?", Articles(articles=[speaks, asks]), WORDS)
    assert text.startswith("**How do I set the log level?** \u2014 b.md\n\nPut it into the file.")


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


def test_three_sections_are_shown_where_none_is_a_sure_answer():
    found = Articles(articles=[article(f"Bananas are yellow {n}.", url=f"{n}.md") for n in range(4)])
    text = passages_text("How do I rotate the signing key?", found, WORDS)
    assert text.startswith("I am not sure that the documents answer this. These sections come nearest:")
    assert [f"yellow {n}" in text for n in range(4)] == [True, True, True, False]


def test_of_a_long_table_the_rows_that_share_words_with_the_question_are_shown():
    rows = "\n".join(
        f"| `SETTING_{n}` | 5 | what the setting {n} is for, at some length |" for n in range(40)
    )
    table = f"| variable | default | meaning |\n|---|---|---|\n{rows}\n| `LOG_LEVEL` | INFO | how much is logged |"
    text = passages_text(
        "What is the log level?", Articles(articles=[article(table, heading="Log level")]), WORDS
    )
    assert "| `LOG_LEVEL` | INFO |" in text
    assert "33 more rows are left out." in text


def test_of_a_table_that_is_longer_than_a_further_section_may_be_its_nearest_rows_are_shown():
    wide = "gardens, rivers and the weather in the summer months of the year, " * 3
    rows = "\n".join(f"| `gauge_{n}` | {wide}|" for n in range(8))
    table = f"| metric | meaning |\n|---|---|\n{rows}\n| `failures_total` | counts failed requests, {wide}|"
    lines = "\n\n".join(f"Failed requests and their metric, line {n}." for n in range(12))
    found = [
        article(lines, heading="Which metric counts failed requests?", url="a.md"),
        article(table, heading="Metric of failed requests", url="b.md"),
    ]
    text = passages_text("Which metric counts failed requests?", Articles(articles=found), WORDS)
    assert "`failures_total`" in text
    assert "more rows are left out." in text


def test_the_note_of_an_empty_result_is_kept():
    text = passages_text("x", Articles(articles=[], note="Documents are still being read."), WORDS)
    assert text == "I found nothing about that in the documents.\n\nDocuments are still being read."


def test_pictures_and_the_end_of_a_sentence_are_not_quoted():
    article = Article(
        title="Page",
        url="docs/page.md",
        score=1.0,
        content="further ones.\n\n![The page](a.png)\n\nThe page shows the plan.",
    )
    text = passages_text("What does the page show?", Articles(articles=[article]), WORDS)
    assert "The page shows the plan." in text
    assert "further ones" not in text
    assert "a.png" not in text


def in_code(lines, word):
    return f"To {word} it:\n\n```bash\n" + "\n".join(f"{word}{n * 7}" for n in range(lines)) + "\n```"


def sections_of(text):
    """What is quoted of each section, by its heading."""
    parts = text.split("\n\nSee also:")[0].split("\n\n**")
    return {part.lstrip("*").split("**")[0]: part.split("\n\n", 1)[1] for part in parts}


def test_a_section_of_which_nothing_has_room_is_a_link_and_no_heading_above_nothing():
    first = article(in_code(30, "stop"), heading="Stop it", url="a.md")
    fitting = article(in_code(9, "start"), heading="Start it", url="b.md")
    endless = article(in_code(60, "restart"), heading="Restart it", url="c.md")
    text = passages_text(
        "How do I stop it, start it and restart it?", Articles(articles=[first, fitting, endless]), WORDS
    )
    shown = sections_of(text)
    assert list(shown) == ["Stop it", "Start it"], (
        "the second has the lines of its code though the screen is nearly full"
    )
    assert "start56" in shown["Start it"]
    assert "Restart it \u2014 c.md" in text.split("See also:")[1]
    assert "\u2026" not in text


def test_a_few_lines_are_not_left_out():
    told = ["You need Python.", "You need no container.", *(f"Step {n}: copy {n}." for n in range(4))]
    text = passages_text("copy step", Articles(articles=[article("\n\n".join(told))]), WORDS)
    assert text.endswith("\n\n".join(told))
    second = article("Other words.\n\n" + in_code(8, "copy"), heading="Copy it", url="b.md")
    text = passages_text("copy step", Articles(articles=[article("\n\n".join(told)), second]), WORDS)
    assert "Other words." in text


def test_a_diagram_is_not_quoted():
    text = passages_text(
        "How does a request flow?",
        Articles(
            articles=[article("A request flows so:\n\n```mermaid\nsequenceDiagram\n```\n\nA request ends.")]
        ),
        WORDS,
    )
    assert "A request flows so:" in text
    assert "mermaid" not in text
