"""Markdown of strangers never becomes a script, an event, a style, an image or a link into this site."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.pages.markdown import MAX_CHARACTERS, markdown

TAGS = {
    "p",
    "em",
    "strong",
    "s",
    "code",
    "pre",
    "a",
    "ul",
    "ol",
    "li",
    "blockquote",
    "hr",
    "br",
    "h3",
    "h4",
    "h5",
    "h6",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
PIECES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://a.b/c.png)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<b>)",
    "<javascript:alert(1)>",
    '<https://a.b/" onclick="x>',
    '[x](https://a.b "\\" onmouseover=\\"x")',
    "[r]: javascript:alert(1)\n\n[r]",
    "[x](/keys)",
    "[x](//a.b)",
    "[x](vbscript:x)",
    '```"><script>\nx\n```',
    "    <script>",
    "> ",
    "- ",
    "1. ",
    "*",
    "_",
    "`",
    "~~",
    "|a|b|\n|:-|-:|\n|x|y|\n",
    "<svg/onload=alert(1)>",
    "<a href='x' style='color:red'>",
    "&lt;",
    "&#x3c;script&#x3e;",
    "\n\n",
    "\\",
    "[",
    "](",
    ")",
    "# ",
    "<!--",
    "-->",
    "https://a.b",
]


class Reader(HTMLParser):
    """Collects the tags and attributes of a text as a browser does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", {}))


def check(text: str) -> None:
    for tag, attributes in Reader(markdown(text)).found:
        assert tag in TAGS, (tag, text)
        if tag == "a":
            assert urlsplit(attributes.pop("href") or "").scheme.lower() in ("http", "https", "mailto")
            assert attributes == {"rel": "noopener noreferrer nofollow", "target": "_blank"}
        else:
            assert not {*attributes} - ({"start"} if tag == "ol" else set()), (tag, attributes)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join))
def test_whatever_is_written_only_harmless_markup_comes_out(text: str) -> None:
    check(text)


@pytest.mark.parametrize("piece", PIECES)
def test_each_attack_alone_does_nothing(piece: str) -> None:
    check(piece)


def test_the_usual_marks_work() -> None:
    text = markdown(
        "# Title\n\n*one* **two** [site](https://example.org)\n\n- a\n- b\n\n| x |\n|--:|\n| 1 |\n"
    )
    assert "<h3>Title</h3>" in text
    assert "<em>one</em> <strong>two</strong>" in text
    assert '<a href="https://example.org" rel="noopener noreferrer nofollow" target="_blank">site</a>' in text
    assert "<li>a</li>" in text
    assert "<td>1</td>" in text


def test_a_text_that_is_too_long_is_shown_as_it_stands() -> None:
    text = markdown("*<b>* " * MAX_CHARACTERS)
    assert text.startswith('<p class="keep-lines">*&lt;b&gt;*')


@pytest.mark.parametrize(
    "piece", ["[", "*a_", "> ", "- ", "`", "![", "[a](", "<", "|", "\\", "&", "~~a", "**a *b "]
)
def test_texts_made_to_be_slow_are_parsed(piece: str) -> None:
    check((piece * MAX_CHARACTERS)[:MAX_CHARACTERS])
