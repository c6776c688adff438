"""XML that comes from outside."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

LONGEST = 1 << 20


def parse_xml(text: str, what: str) -> Element:
    """The root of a document; a `ValueError` if it is not well formed, very long or declares entities."""
    if len(text) > LONGEST or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError(
            f"{what} is longer than {LONGEST} characters or declares a document type; send it without"
        )
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{what} is not well-formed XML ({error}); mend it there") from None
