"""Column aliases: the names under which the columns of a table of votes are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

ALIASES: Mapping[str, tuple[str, ...]] = {
    "task": ("task", "item", "example", "unit", "subject", "question", "instance", "document", "hit"),
    "worker": (
        "worker", "annotator", "rater", "performer", "user", "assessor", "labeler", "labeller", "judge",
        "coder", "participant", "respondent", "prolificpid", "crowdworker", "turker", "reviewer", "evaluator",
    ),
    "label": (
        "label", "rating", "value", "answer", "response", "annotation", "class", "category", "choice", "vote",
        "judgment", "judgement",
    ),
    "weight": ("weight",),
    "seconds": (
        "seconds", "duration", "leadtime", "worktime", "worktimeinseconds", "timespent", "responsetime",
    ),
    "time": (
        "time", "timestamp", "updatedat", "submittedat", "submittime", "createdat", "datetime", "date",
    ),
    "gold": ("gold", "goldlabel", "goldanswer", "truth", "groundtruth", "truelabel", "trueclass"),
}  # fmt: skip
WEAK_ALIASES: Mapping[str, tuple[str, ...]] = {  # taken where no column has one of the names above
    "task": (
        "id", "uuid", "key", "index", "image", "picture", "photo", "video", "audio", "file", "filename",
        "path", "url", "link", "tweet", "post", "comment", "message", "review", "sentence", "text", "query",
        "pair", "product", "record", "sample", "case", "row", "page", "title", "stimulus", "trial",
        "doc", "paper", "article", "abstract", "pmid", "doi", "movie", "film", "book", "song", "clip",
        "headline", "claim", "passage", "paragraph", "aufgabe", "bild", "satz", "tâche", "tache", "phrase",
        "tarea", "imagen", "imagem", "taak",
    ),
    "worker": (
        "person", "people", "email", "mail", "voter", "expert", "pid", "createdby", "completedby",
        "labeledby", "labelledby", "annotatedby", "submittedby", "who", "emailaddress", "screener", "grader",
        "scorer", "listener", "viewer", "critic", "student", "doctor", "physician", "radiologist",
        "volunteer", "contributor", "observer", "kodierer", "teilnehmer", "bewerter", "annotateur",
        "annotatrice", "évaluateur", "participante", "anotador", "evaluador", "codificador",
    ),
    "label": (
        "sentiment", "stance", "emotion", "verdict", "decision", "opinion", "relevance", "grade", "tag",
        "selection", "selected", "option", "topic", "intent", "tone", "quality", "toxicity", "stars",
        "species", "diagnosis", "antwort", "kategorie", "bewertung", "urteil", "réponse", "étiquette",
        "etiqueta", "respuesta", "resposta", "categoría", "categoria",
    ),
}  # fmt: skip
ENDS: Mapping[str, tuple[str, ...]] = {  # of a name, after an alias; the id of an answer is no answer
    "task": ("", "id", "name"),
    "worker": ("", "id", "name", "email"),
    "label": ("", "name"),
}
AMBIGUOUS_TASKS = frozenset(("subject", "subjectid", "subjectname", "case", "caseid"))  # may be people
REMARK_KEYS = frozenset(  # what is said beside a label
    (
        "confidence", "certainty", "comment", "comments", "anycomments", "remark", "remarks", "note",
        "notes", "reason", "reasons", "rationale", "explanation", "feedback", "timetaken",
    )
)  # fmt: skip
NAME_ROLES = ("task", "worker", "label", "gold")  # the other roles hold numbers
MAX_LISTED_NAMES = 8


def find_columns(names: Iterable[str], roles: Iterable[str] = ALIASES) -> dict[str, str]:
    """The column of each role that has one; earlier aliases come before later ones.

    Examples
    --------
    >>> find_columns(["Item ID", "annotator", "answer", "text"])
    {'task': 'Item ID', 'worker': 'annotator', 'label': 'answer'}
    """
    listed = list(names)
    found = {role: candidates(listed, role) for role in roles}
    return {role: names[0] for role, names in found.items() if names}


def candidates(
    names: Iterable[str], role: str, aliases: Mapping[str, tuple[str, ...]] = ALIASES
) -> list[str]:
    """All columns that are called like a role, the best name first; the first of those with one key."""
    by_key: dict[str, str] = {}
    for name in names:
        by_key.setdefault(name_key(name), name)
    keys = (alias + end for alias in aliases[role] for end in ENDS.get(role, ("",)))
    return [by_key[key] for key in keys if key in by_key]


def is_own_name(name: str, role: str) -> bool:
    """Whether a column is called by the word of the role itself, as in `Worker ID`."""
    return name_key(name) in {role + end for end in ENDS.get(role, ("",))}


def is_known(name: str) -> bool:
    """Whether a column of this name has a role."""
    return bool(find_columns([name]))


def check_choice(names: Sequence[str], chosen: Mapping[str, str | None]) -> None:
    """Raise if the user has named a role or a column that does not exist."""
    if unknown := [role for role in chosen if role not in ALIASES]:
        raise ValueError(f"columns names {unknown[0]!r}, expected one of {', '.join(ALIASES)}")
    if absent := [name for name in chosen.values() if name is not None and name not in names]:
        raise ValueError(f"there is no column {absent[0]!r}, only {listed(names)}")


def listed(names: Sequence[str]) -> str:
    """The first names, for a sentence."""
    shown = ", ".join(map(repr, names[:MAX_LISTED_NAMES])) or "nothing"
    more = len(names) - MAX_LISTED_NAMES
    return f"{shown}, and {more} more" if more > 0 else shown


def name_key(name: str) -> str:
    """A name without case, blanks and punctuation."""
    return re.sub(r"[\W_]", "", name.casefold())
