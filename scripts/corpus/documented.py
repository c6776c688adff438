"""Files in layouts that programs and platforms document, where they could not be run to make one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from scripts.corpus.folder import DOCUMENTED, Vote, write_folder
from scripts.corpus.scenario import ANNOTATORS, CATEGORIES, SENTIMENT_VOTES, SENTIMENTS, TEXTS

Row = Sequence[Any]


def make() -> None:
    """Write all folders."""
    for write in (
        write_r, write_excel, write_qualtrics, write_mturk, write_mturk_radio, write_appen, write_toloka,
        write_zooniverse, write_prodigy,
    ):  # fmt: skip
        write()


def answers() -> Iterator[tuple[int, int, str]]:
    """Number of the text, number of the annotator, label."""
    for n, row in enumerate(SENTIMENT_VOTES):
        for m, label in enumerate(row):
            if label is not None:
                yield n, m, label


def about(program: str, source: str, **more: Any) -> dict[str, Any]:
    """What is said of a file."""
    return {"program": program, "made": DOCUMENTED, "source": source, **more}


def table(rows: Sequence[Row], **style: Any) -> str:
    """Rows as text with columns."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n", **style).writerows(rows)
    return stream.getvalue()


def write_r() -> None:
    """`write.csv(frame)`: text quoted, names of rows in a column without a name, NA without quotes."""
    rows = [(f'"{n}-{m}"', f'"t{n}"', f'"{ANNOTATORS[m]}"', f'"{label}"') for n, m, label in answers()]
    missing = ('"2-1"', '"t2"', '"ben"', "NA")
    lines = ['"","item","rater","rating"', *(",".join(row) for row in [*rows, missing])]
    votes = [(f"t{n}", ANNOTATORS[m], label) for n, m, label in answers()]
    said = about("R", "help page of write.table in the package utils")
    write_folder("r-long", {"votes.csv": ("\n".join(lines) + "\n").encode()}, votes, said)
    wide = ['"","anna","ben","carla"']
    for n, row in enumerate(SENTIMENT_VOTES):
        cells = ["NA" if label is None else f'"{label}"' for label in row]
        wide.append(",".join([f'"{n + 1}"', *cells]))
    numbered = [(n + 1, ANNOTATORS[m], label) for n, m, label in answers()]
    write_folder("r-wide", {"votes.csv": ("\n".join(wide) + "\n").encode()}, numbered, said)


def write_excel() -> None:
    """As Excel saves text in Western Europe: semicolons in cp1252, or `Unicode text`, UTF-16 with tabs."""
    people = ("Jörg", "Zoë", "André")
    labels = dict(zip(SENTIMENTS, ("schön", "übel", "weiß nicht"), strict=True))
    votes: list[Vote] = [(f"Gerät {n}", people[m], labels[label]) for n, m, label in answers()]
    rows = [("Gerät", "Bewerter", "Urteil", "Dauer"), *((*vote, "3,5") for vote in votes)]
    roles = {"columns": {"task": "Gerät", "worker": "Bewerter", "label": "Urteil"}}
    said = about("Excel", "list of its file formats: CSV (semicolon), Unicode Text", options=roles)
    text = table(rows, delimiter=";").replace("\n", "\r\n").encode("cp1252")
    write_folder("excel-semicolons-cp1252", {"votes.csv": text}, votes, said)
    wide = table(rows, delimiter="\t").replace("\n", "\r\n").encode("utf-16")
    write_folder("excel-unicode-text", {"votes.txt": wide}, votes, said)


def write_qualtrics() -> None:
    """Three rows of names: of columns, of questions and of imports; a row for each respondent."""
    fixed = {
        "StartDate": "Start Date", "EndDate": "End Date", "Status": "Response Type",
        "IPAddress": "IP Address", "Progress": "Progress", "Finished": "Finished",
        "Duration (in seconds)": "Duration (in seconds)", "RecordedDate": "Recorded Date",
        "ResponseId": "Response ID", "UserLanguage": "User Language",
    }  # fmt: skip
    questions = [f"Q{n + 1}" for n in range(len(TEXTS))]
    imports = [json.dumps({"ImportId": name}) for name in fixed]
    imports += [json.dumps({"ImportId": f"QID{n + 1}"}) for n in range(len(TEXTS))]
    rows: list[Row] = [[*fixed, *questions], [*fixed.values(), *TEXTS], imports]
    for m in range(len(ANNOTATORS)):
        time, end = f"2026-03-0{m + 1} 10:00:00", f"2026-03-0{m + 1} 10:05:00"
        base = (time, end, "IP Address", "192.0.2.7", 100, "True", 300, end, f"R_{m}abc", "EN")
        rows.append([*base, *(row[m] or "" for row in SENTIMENT_VOTES)])
    votes = [(f"Q{n + 1}", f"R_{m}abc", label) for n, m, label in answers()]
    said = about(
        "Qualtrics", "support page about the understanding of a data set, CSV with three header rows"
    )
    write_folder("qualtrics", {"survey.csv": table(rows).encode("utf-8-sig")}, votes, said)


MTURK = (
    "HITId", "HITTypeId", "Title", "Reward", "CreationTime", "MaxAssignments", "AssignmentId", "WorkerId",
    "AssignmentStatus", "AcceptTime", "SubmitTime", "WorkTimeInSeconds", "Input.text", "Input.category",
)  # fmt: skip
MTURK_PAGE = "documentation of the requester site: batch results; reference of crowd elements"


def mturk_rows() -> Iterator[tuple[int, int, str, Row]]:
    """Number of the text and of the worker, the label, and the fields before the answers."""
    for n, m, label in answers():
        day = f"Mon Mar 0{m + 1} 10:0{n}:00 PST 2026"
        yield n, m, label, (
            f"HIT{n}", "TYPE", "Judge a text", "$0.05", day, 3, f"A{n}{m}", f"W{m}",
            "Rejected" if (n, m) == (1, 2) else "Approved", day, day, 12 + n, TEXTS[n], CATEGORIES[n],
        )  # fmt: skip


def mturk_votes() -> list[Vote]:
    """What was voted; a rejected assignment is none."""
    return [(f"HIT{n}", f"W{m}", label) for n, m, label in answers() if (n, m) != (1, 2)]


def write_mturk() -> None:
    """`crowd-classifier` called sentiment: its label is in one column."""
    rows = [(*MTURK, "Answer.sentiment.label", "Approve", "Reject")]
    rows += [(*base, label, "", "") for _, _, label, base in mturk_rows()]
    said = about("Amazon Mechanical Turk", MTURK_PAGE)
    write_folder("mturk-classifier", {"batch.csv": table(rows, quoting=1).encode()}, mturk_votes(), said)


def write_mturk_radio() -> None:
    """`crowd-radio-button` elements: a column for each of them, true where it was chosen."""
    rows = [(*MTURK, *(f"Answer.{label}.on" for label in SENTIMENTS), "Approve", "Reject")]
    for _, _, label, base in mturk_rows():
        rows.append((*base, *(str(label == one).lower() for one in SENTIMENTS), "", ""))
    said = about("Amazon Mechanical Turk", MTURK_PAGE)
    write_folder("mturk-radio", {"batch.csv": table(rows, quoting=1).encode()}, mturk_votes(), said)


def write_appen() -> None:
    """The full report: a row for each judgment, with a gold column, and one judgment that is tainted."""
    names = (
        "_unit_id", "_created_at", "_golden", "_id", "_missed", "_started_at", "_tainted", "_channel",
        "_trust", "_worker_id", "_country", "_region", "_city", "_ip", "sentiment", "category",
        "sentiment_gold", "text",
    )  # fmt: skip
    rows: list[Row] = [names]
    for n, m, label in answers():
        rows.append((
            700 + n, f"3/{m + 1}/2026 10:0{n}:30", str(n == 3).lower(), 9000 + 10 * n + m, "",
            f"3/{m + 1}/2026 10:0{n}:00", "false", "neodev", 0.9, 50 + m, "DEU", "05", "Köln", "192.0.2.1",
            label, CATEGORIES[n], "positive" if n == 3 else "", TEXTS[n],
        ))  # fmt: skip
    votes = [(700 + n, 50 + m, label) for n, m, label in answers()]
    said = about("Appen", "glossary of the full report of a job", gold={"703": "positive"})
    write_folder("appen-full", {"full.csv": table(rows).encode()}, votes, said)


def write_toloka() -> None:
    """Assignments of a pool, with a golden task and one assignment that was rejected."""
    names = (
        "INPUT:text", "OUTPUT:sentiment", "GOLDEN:sentiment", "HINT:text", "ASSIGNMENT:link",
        "ASSIGNMENT:task_id", "ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status",
        "ASSIGNMENT:started", "ASSIGNMENT:submitted",
    )  # fmt: skip
    rows: list[Row] = [names]
    for n, m, label in answers():
        rows.append((
            TEXTS[n].replace("\n", " "), label, "positive" if n == 3 else "", "", "", f"task-{n}", f"a{n}{m}",
            f"w{m}", "REJECTED" if (n, m) == (0, 2) else "APPROVED", f"2026-03-0{m + 1}T10:0{n}:00.000",
            f"2026-03-0{m + 1}T10:0{n}:09.000",
        ))  # fmt: skip
    votes = [(f"task-{n}", f"w{m}", label) for n, m, label in answers() if (n, m) != (0, 2)]
    said = about("Toloka", "help page about the file of results", gold={"task-3": "positive"})
    write_folder("toloka", {"assignments.tsv": table(rows, delimiter="\t").encode()}, votes, said)


def write_zooniverse() -> None:
    """Classifications of one workflow; one volunteer is not signed in."""
    names = (
        "classification_id", "user_name", "user_id", "user_ip", "workflow_id", "workflow_name",
        "workflow_version", "created_at", "gold_standard", "expert", "metadata", "annotations",
        "subject_data", "subject_ids",
    )  # fmt: skip
    users = (("anna", "11"), ("ben", "12"), ("not-logged-in-5f2c", ""))
    rows: list[Row] = [names]
    for n, m, label in answers():
        said = json.dumps([{"task": "T0", "task_label": "Which one?", "value": label}])
        data = json.dumps({str(400 + n): {"retired": None, "Filename": f"{n}.jpg"}})
        times = {
            "started_at": f"2026-03-0{m + 1}T10:0{n}:00Z",
            "finished_at": f"2026-03-0{m + 1}T10:0{n}:08Z",
        }
        rows.append((
            10 * n + m, *users[m], "a1b2", 77, "Moods", "3.4", f"2026-03-0{m + 1} 10:0{n}:09 UTC", "", "",
            json.dumps(times), said, data, 400 + n,
        ))  # fmt: skip
    votes = [(400 + n, users[m][0], label) for n, m, label in answers()]
    source = about("Zooniverse", "help page about data exports: classifications")
    write_folder("zooniverse", {"classifications.csv": table(rows).encode()}, votes, source)


def write_prodigy() -> None:
    """`db-out` of a dataset with choices, of three sessions; ignored ones are no votes."""
    lines = []
    for n, row in enumerate(SENTIMENT_VOTES):
        for m, label in enumerate(row):
            session = f"moods-{ANNOTATORS[m]}"
            lines.append({
                "text": TEXTS[n], "meta": {"category": CATEGORIES[n]}, "_input_hash": -1000 - n,
                "_task_hash": 5000 + n, "options": [{"id": one, "text": one} for one in SENTIMENTS],
                "_view_id": "choice", "config": {"choice_style": "single"},
                "accept": [label] if label else [], "answer": "accept" if label else "ignore",
                "_timestamp": 1772000000 + 10 * n + m,
                "_annotator_id": session, "_session_id": session,
            })  # fmt: skip
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    votes = [(-1000 - n, f"moods-{ANNOTATORS[m]}", label) for n, m, label in answers()]
    said = about("Prodigy", "documentation of its tasks and of db-out; the program is not free")
    write_folder("prodigy-choice", {"moods.jsonl": content}, votes, said)


if __name__ == "__main__":
    make()
