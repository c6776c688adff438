"""Tables that pandas, cleanlab and crowd-kit write; run by the interpreter of their own environment."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from io import BytesIO
from typing import Any

import cleanlab.multiannotator
import crowdkit.aggregation
import pandas as pd

from scripts.corpus.folder import RUN, Vote, write_folder
from scripts.corpus.scenario import ANNOTATORS, SENTIMENT_VOTES, SENTIMENTS, TEXTS

NUMBERS = {label: n for n, label in enumerate(SENTIMENTS)}


def make() -> None:
    """Write all folders."""
    votes = pd.DataFrame(triples(), columns=["item", "rater", "rating"])
    write_long(votes)
    write_wide(votes)
    write_cleanlab(votes)
    write_crowd_kit(votes)


def triples() -> Iterator[Vote]:
    """The votes of the scenario, with a name for each text."""
    for n, row in enumerate(SENTIMENT_VOTES):
        for name, label in zip(ANNOTATORS, row, strict=True):
            if label is not None:
                yield f"t{n}", name, label


def about(program: str, **more: Any) -> dict[str, Any]:
    """What is said of a file."""
    return {"program": program, "version": version(program), "made": RUN, **more}


def csv_of(frame: Any, **options: Any) -> bytes:
    """A frame as its `to_csv` writes it."""
    return str(frame.to_csv(**options)).encode()


def write_long(votes: Any) -> None:
    """One row for each vote: with the index, with texts instead of names, as a workbook and as Parquet."""
    rows = list(triples())
    write_folder("pandas-long-index", {"votes.csv": csv_of(votes)}, rows, about("pandas"))
    texts = votes.assign(text=[TEXTS[int(item[1:])] for item in votes["item"]], status="done")
    write_folder(
        "pandas-long-text", {"votes.csv": csv_of(texts[["text", "status", "rating", "rater"]])},
        [(TEXTS[int(task[1:])], worker, label) for task, worker, label in rows], about("pandas"),
    )  # fmt: skip
    book, parquet = BytesIO(), BytesIO()
    votes.to_excel(book)
    write_folder("pandas-long-xlsx", {"votes.xlsx": book.getvalue()}, rows, about("pandas"))
    votes.sample(frac=1, random_state=0).to_parquet(parquet)
    write_folder("pandas-long-parquet", {"votes.parquet": parquet.getvalue()}, rows, about("pandas"))
    for orient in ("records", "columns", "index", "split"):
        content = str(votes.to_json(orient=orient)).encode()
        write_folder(f"pandas-json-{orient}", {"frame.json": content}, rows, about("pandas"))


def write_wide(votes: Any) -> None:
    """A row for each task and a column for each worker, in the ways in which people write it."""
    wide = votes.pivot(index="item", columns="rater", values="rating")
    rows = list(triples())
    write_folder("pandas-wide-named-index", {"votes.csv": csv_of(wide)}, rows, about("pandas"))
    numbered = [(int(task[1:]), worker, label) for task, worker, label in rows]
    plain = wide.reset_index(drop=True)
    write_folder("pandas-wide-unnamed-index", {"votes.csv": csv_of(plain)}, numbered, about("pandas"))
    write_folder("pandas-wide-no-id", {"votes.csv": csv_of(plain, index=False)}, numbered, about("pandas"))
    codes = plain.apply(lambda column: column.map(NUMBERS)).fillna(-1).astype(int)
    coded = [(task, worker, NUMBERS[label]) for task, worker, label in numbered]
    write_folder("pandas-wide-minus-one", {"votes.csv": csv_of(codes, index=False)}, coded, about("pandas"))
    plain.insert(0, "text", list(TEXTS))
    by_text = [(TEXTS[task], worker, label) for task, worker, label in numbered]
    write_folder("pandas-wide-text", {"votes.csv": csv_of(plain, index=False)}, by_text, about("pandas"))
    write_folder("pandas-wide-index-and-text", {"votes.csv": csv_of(plain)}, by_text, about("pandas"))


def write_cleanlab(votes: Any) -> None:
    """The frame that its functions for several annotators take, and the frame of quality that they give."""
    long = votes.assign(rating=votes["rating"].map(NUMBERS))
    long.columns = ["task", "annotator", "label"]
    wide = cleanlab.multiannotator.convert_long_to_wide_dataset(long)
    rows = [(task, worker, NUMBERS[label]) for task, worker, label in triples()]
    write_folder("cleanlab-wide-csv", {"votes.csv": csv_of(wide)}, rows, about("cleanlab"))
    parquet = BytesIO()
    wide.to_parquet(parquet)
    write_folder("cleanlab-wide-parquet", {"votes.parquet": parquet.getvalue()}, rows, about("cleanlab"))
    quality = cleanlab.multiannotator.get_majority_vote_label(wide.reset_index(drop=True))
    frame = wide.reset_index(drop=True)
    frame.insert(0, "consensus_label", quality)
    numbered = [(int(task[1:]), worker, label) for task, worker, label in rows]
    content = csv_of(frame, index=False)
    write_folder("cleanlab-consensus", {"votes.csv": content}, numbered, about("cleanlab"))


def write_crowd_kit(votes: Any) -> None:
    """The frame that its models take, and the labels that one of them gives, which are no votes."""
    frame = votes.rename(columns={"item": "task", "rater": "worker", "rating": "label"})
    said = about("crowd-kit")
    write_folder("crowd-kit-votes", {"votes.csv": csv_of(frame, index=False)}, list(triples()), said)
    labels = csv_of(crowdkit.aggregation.MajorityVote().fit_predict(frame))
    write_folder("crowd-kit-labels", {"labels.csv": labels}, [], {**said, "refused": "worker"})


if __name__ == "__main__":
    make()
