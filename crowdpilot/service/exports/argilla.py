"""Items for Argilla 2: a folder that `argilla.Dataset.from_disk` reads, with decisions as suggestions.

Layout: https://docs.argilla.io/latest/how_to_guides/import_export and what `Dataset.to_disk` of version 2.8
writes. Votes are no responses there, because each response belongs to a user of that server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.exports.decisions import ProjectDecisions
from crowdpilot.service.exports.labelled_items import LabelledItem, labelled_items
from crowdpilot.service.exports.zip_stream import zip_stream
from crowdpilot.service.store.engine import Row, Store

AGENT = "crowdpilot"
QUESTION = "label"
NO_EVIDENCE = "prior"  # such a decision is the same for all, and no suggestion
KINDS = "text", "image", "audio", "video"
DATASET, SETTINGS, RECORDS = ".argilla/dataset.json", ".argilla/settings.json", "records.json"
METADATA: Mapping[str, str] = {"probability": "float", "votes": "integer", "decided_by": "terms"}
MAX_NAME_CHARACTERS = 80


def argilla(
    store: Store, project: Row, decided: ProjectDecisions, confidence: float, address: str
) -> Iterator[bytes]:
    """A zip archive of all items with a suggestion each, whose label has at least this probability.

    `address` is that of this service, to make the addresses of uploaded files complete.
    """
    if project.spec["criteria"]:
        raise ConflictError("projects with criteria have no export for Argilla; export them as tables")
    items = list(labelled_items(store, project.id, decided, confidence))
    return zip_stream(_entries(project, decided.classes, items, address))


def _entries(
    project: Row, classes: Sequence[str], items: Sequence[LabelledItem], address: str
) -> Iterator[tuple[str, bytes]]:
    kinds = [kind for kind in KINDS if any(item.content.get(kind) for item in items)] or ["text"]
    everywhere = [kind for kind in kinds if all(item.content.get(kind) for item in items)]
    if not everywhere:  # Argilla wants one field that all records have
        kinds, everywhere = list(dict.fromkeys(["text", *kinds])), ["text"]
    guidelines = project.spec["instructions"] or project.spec["question"] or None
    yield DATASET, _json({"name": dataset_name(project.name), "guidelines": guidelines, "status": "draft"})
    yield SETTINGS, _json({
        "guidelines": guidelines, "allow_extra_metadata": False, "vectors": [], "mapping": None,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "fields": [_field(kind, kind in everywhere) for kind in kinds],
        "questions": [_question(project.spec["question"], classes)],
        "metadata": [_metadata(name, type) for name, type in METADATA.items()],
    })  # fmt: skip
    yield RECORDS, _json([_record(item, kinds, everywhere, address) for item in items])


def dataset_name(name: str) -> str:
    """A name as Argilla takes it.

    Examples
    --------
    >>> dataset_name("Birds & bees, 2026"), dataset_name("鳥")
    ('Birds_bees_2026', 'crowdpilot')
    """
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "_".join(words)[:MAX_NAME_CHARACTERS].strip("_") or "crowdpilot"


def _field(kind: str, required: bool) -> dict[str, Any]:
    if kind == "image":
        settings: dict[str, Any] = {"type": "image"}
    else:  # sounds and videos are shown by a line of HTML in Markdown
        settings = {"type": "text", "use_markdown": kind != "text"}
    return {"name": kind, "title": kind, "required": required, "description": None, "settings": settings}


def _question(words: str, classes: Sequence[str]) -> dict[str, Any]:
    options = [{"value": label, "text": label, "description": None} for label in classes]
    settings = {"type": "label_selection", "options": options, "visible_options": None}
    return {"name": QUESTION, "title": words[:500] or QUESTION, "description": None, "required": True,
            "settings": settings}  # fmt: skip


def _metadata(name: str, type: str) -> dict[str, Any]:
    limits = {"values": None} if type == "terms" else {"min": None, "max": None}
    settings = {"type": type, "visible_for_annotators": False, **limits}
    return {"name": name, "title": name, "visible_for_annotators": False, "settings": settings}


def _record(
    item: LabelledItem, kinds: Sequence[str], everywhere: Sequence[str], address: str
) -> dict[str, Any]:
    fields = {kind: _shown(kind, item.content[kind], address) for kind in kinds if item.content.get(kind)}
    metadata = {"probability": round(item.probability, 6), "votes": item.votes, "decided_by": item.decided_by}
    suggestion = {"value": item.label, "score": round(item.probability, 6), "agent": AGENT}
    return {
        "id": item.name, "fields": {**dict.fromkeys(everywhere, item.name), **fields},
        "metadata": metadata, "responses": {}, "vectors": {},
        "suggestions": {} if item.decided_by == NO_EVIDENCE else {QUESTION: suggestion},
    }  # fmt: skip


def _shown(kind: str, value: str, address: str) -> str:
    """A text as it is, the address of an image, or a line that plays a sound or a video."""
    if kind == "text":
        return value
    complete = address + value if value.startswith("/") else value
    if kind == "image":
        return complete
    source = complete.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<{kind} controls src="{source}"></{kind}>'


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
