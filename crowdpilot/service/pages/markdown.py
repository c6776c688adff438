"""Markdown of strangers as safe HTML: no raw HTML, no images, no styles, links to other sites only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

MAX_CHARACTERS = 10_000  # of a text that is parsed; a longer one is shown as it stands
MAX_NESTING = 12  # of quotes, lists and emphasis
SHIFTED_LEVELS = 2  # a heading of a text is below those of the page
LINK = re.compile(r"(https?://|mailto:)[^\s]+", re.IGNORECASE)
LINK_ATTRIBUTES = {"rel": "noopener noreferrer nofollow", "target": "_blank"}
KEPT_ATTRIBUTES = {"href", "start", *LINK_ATTRIBUTES}


@lru_cache(256)
def markdown(text: str) -> Markup:
    """The HTML of a text.

    Examples
    --------
    >>> print(markdown("*Read* <b>this</b> [now](javascript:alert(1))."))
    <p><em>Read</em> &lt;b&gt;this&lt;/b&gt; [now](javascript:alert(1)).</p>
    """
    if len(text) > MAX_CHARACTERS:
        return Markup('<p class="keep-lines">{}</p>').format(text)
    tokens = _PARSER.parse(text)
    _restrict(tokens)
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}).strip())  # of our renderer


class _OtherSites(MarkdownIt):
    """A parser for which an address of another kind is no link."""

    def validateLink(self, url: str) -> bool:  # as the parser calls it
        return LINK.fullmatch(url) is not None


def _parser() -> MarkdownIt:
    parser = _OtherSites("commonmark", {"html": False, "linkify": False, "maxNesting": MAX_NESTING})
    parser.disable(["image", "html_block", "html_inline", "reference"])
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


def _code(_: object, tokens: Sequence[Token], at: int, *__: object) -> str:
    """A block of code, without a class for its language."""
    return f"<pre><code>{escape(tokens[at].content)}</code></pre>\n"


def _restrict(tokens: Iterable[Token]) -> None:
    """Lower headings, mark links, and drop all other attributes: pages forbid the styles of tables."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + SHIFTED_LEVELS)}"
        elif token.type == "link_open":
            token.attrs.update(LINK_ATTRIBUTES)
        token.attrs = {name: value for name, value in token.attrs.items() if name in KEPT_ATTRIBUTES}
        _restrict(token.children or ())


_PARSER = _parser()
