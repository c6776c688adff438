"""`Source`: a file or folder to be read, its bytes, header and JSON records, and what the user says of it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from crowdpilot.io.engine import engine
from crowdpilot.io.inference.column_content import Content
from crowdpilot.io.inference.column_names import is_known
from crowdpilot.io.inference.column_roles import REQUIRED_ROLES, resolve
from crowdpilot.io.plain import long_fields
from crowdpilot.io.sources.encodings import UTF8, WESTERN, WESTERN_NOTE, detect_encoding, find_encoding
from crowdpilot.option_strings import did_you_mean

HEAD_BYTES = 1 << 20  # read to detect the format
SAMPLE_ROWS = 200  # looked at to detect the format
DELIMITERS = ",\t;|"
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


@dataclass(frozen=True, eq=False)
class Source:
    """A path, and what the user or a format says of it.

    Parameters
    ----------
    path
        A file or a folder.
    columns, question
        The columns and the question that the user has named.
    known_delimiter
        The delimiter between columns, if known.
    content
        The bytes themselves; the path is then only a name for errors.
    encoding
        The encoding of the text; detected if not given.
    header_names
        The names of the columns, for text without a header.
    sheet
        Which sheet of a workbook.
    notes
        What was assumed and may be wrong, found while reading; shared with the sources made from this one.
    members
        The files in an archive of several.
    required
        Roles that must have a column.
    is_format_named
        Whether the user says which format it is.
    """

    path: Path
    columns: Mapping[str, str | None] = field(default_factory=dict)
    question: str | None = None
    known_delimiter: str | None = None
    content: bytes | None = None
    encoding: str | None = None
    header_names: Sequence[str] | None = None
    sheet: str | None = None
    notes: list[str] = field(default_factory=list)
    members: Sequence[Source] = ()
    required: Sequence[str] = REQUIRED_ROLES
    is_format_named: bool = False

    def error(self, problem: str, line: int | None = None) -> ValueError:
        """One sentence that says where the problem is."""
        return ValueError(f"{self.path}{f', line {line}' if line else ''}: {problem}")

    def open(self) -> Any:
        """The text of the file as a stream of UTF-8; what is no text, as it is."""
        return self.open_bytes() if self.text_encoding == UTF8 else io.BytesIO(self._utf8)

    def open_bytes(self) -> Any:
        """The bytes of the file as a stream; a compressed file is decompressed on the way."""
        if self.content is not None:
            return io.BytesIO(self.content)
        if self.path.is_fifo() or self.path.is_char_device():
            return io.BytesIO(self._piped)
        return engine().open(self.path)

    @cached_property
    def _piped(self) -> bytes:
        return self.path.read_bytes()  # a pipe can be read only once

    @cached_property
    def text_encoding(self) -> str:
        """The encoding that the user has named, or the one that is detected."""
        if self.encoding is None:
            return detect_encoding(self.open_bytes)
        try:
            return find_encoding(self.encoding)
        except ValueError as error:
            raise self.error(str(error)) from error

    @cached_property
    def _utf8(self) -> bytes:
        with self.open_bytes() as stream:
            content = bytes(stream.read())
        if self.encoding is None and self.text_encoding == WESTERN and WESTERN_NOTE not in self.notes:
            self.notes.append(WESTERN_NOTE)
        try:
            return content.decode(self.text_encoding).encode()
        except UnicodeError as error:  # half of a character of UTF-16 can be decoded, but is no text
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
            problem = f"found bytes that are not {self.encoding or self.text_encoding}"
            raise self.error(
                f"{problem}; name the encoding with encoding= (--encoding NAME)", line
            ) from error

    def lines(self, errors: str = "strict") -> Iterator[str]:
        """The lines of the file, as they are."""
        with io.TextIOWrapper(self.open(), encoding="utf-8-sig", errors=errors, newline="") as stream:
            yield from stream

    def not_utf8(self) -> ValueError:
        """The error of the first line with bytes that are not UTF-8."""
        with self.open_bytes() as stream:
            content = stream.read()
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            problem = "found bytes that are not UTF-8; name the encoding with encoding= (--encoding NAME)"
            return self.error(problem, line)
        return self.error("expected UTF-8 text")

    @cached_property
    def head(self) -> bytes:
        """The first bytes; none for a folder."""
        if self.path.is_dir():
            return b""
        with self.open() as stream:
            return bytes(stream.read(HEAD_BYTES))

    @cached_property
    def start(self) -> str:
        """The first bytes as text, without a byte order mark and empty lines."""
        return self.head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip("\r\n")

    @property
    def opening(self) -> str:
        """The first character that is not blank."""
        return self.start.lstrip()[:1]

    def roles(
        self,
        names: Iterable[str],
        preset: Mapping[str, str] | None = None,
        content: Content | None = None,
    ) -> dict[str, str]:
        """The column of each role; see `column_roles.resolve`. What was assumed is added to the notes."""
        try:
            roles = resolve(list(names), self.columns, preset, content, self.required)
        except ValueError as error:
            raise self.error(str(error)) from error
        self.notes.extend(note for note in roles.notes if note not in self.notes)
        return roles.columns

    # Text with a header ---------------------------------------------------------------------

    @cached_property
    def delimiter(self) -> str:
        """The delimiter between columns; if not known, the one that gives most known names in the header."""

        def known_names(delimiter: str) -> tuple[int, int]:
            names = self._records(delimiter, 1)[0]
            if self.header_names is not None:
                return int(len(names) == len(self.header_names)), len(names)
            known = sum(is_known(name) or name in self.columns.values() for name in names)
            return known, len(names)

        return self.known_delimiter or max(DELIMITERS, key=known_names)

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns: as the user says, else those in the first line."""
        first = self._records(self.delimiter, 1)[0]
        if self.header_names is None:
            return first
        if len(first) != len(self.header_names):
            found = f"found {len(first)} column{'' if len(first) == 1 else 's'}"
            raise self.error(f"{found}, but header= (--header) names {len(self.header_names)}")
        return list(self.header_names)

    @property
    def header_rows(self) -> int:
        """How many rows hold names of columns and no data."""
        return int(self.header_names is None)

    @cached_property
    def sample(self) -> list[list[str]]:
        """The first rows below the header."""
        return self._records(self.delimiter, SAMPLE_ROWS + 1)[self.header_rows :]

    @cached_property
    def is_header_only(self) -> bool:
        """Whether nothing follows the names of the columns."""
        try:
            return len(self._records(self.delimiter, 2)) <= self.header_rows
        except ValueError:
            return False

    def _records(self, delimiter: str, count: int) -> list[list[str]]:
        rows = csv.reader(io.StringIO(self.start, newline=""), delimiter=delimiter)
        try:
            with long_fields():
                return list(islice((row for row in rows if row), count)) or [[]]
        except csv.Error as error:
            raise self.error(f"the first lines are no table ({error})") from error

    # JSON -----------------------------------------------------------------------------------

    @cached_property
    def record(self) -> Any:
        """The first record of a JSON file; None if it is not JSON, or broken."""
        if self.opening not in ("{", "["):
            return None
        try:
            return json.JSONDecoder().raw_decode(re.sub(r"^\s*\[?\s*", "", self.start))[0]
        except (ValueError, RecursionError):
            return self._first_of_document() if len(self.head) == HEAD_BYTES else None

    def _first_of_document(self) -> Any:
        try:
            return self.document[0] if self.opening == "[" else self.document
        except (ValueError, LookupError):
            return None

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value."""
        with self.open() as stream:
            content = stream.read().decode("utf-8-sig")
        try:
            return json.loads(content)
        except json.JSONDecodeError as error:
            raise self.error(f"found broken JSON ({error.msg})", error.lineno) from error
        except (RecursionError, ValueError) as error:
            raise self.error(f"found broken JSON ({_json_problem(error)})") from error

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The records of a JSON array or of JSON lines."""
        if self.opening == "[":
            return [self.check_record(record) for record in self.document]
        return [record for _, record in self.json_lines()]

    def json_lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The number of each line that is not empty, and the record in it."""
        for number, line in enumerate(self.lines(), 1):
            if line.strip():
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    reason = _json_problem(error)
                    raise self.error(f"found broken JSON ({reason}), expected a record", number) from error
                yield number, self.check_record(record, number)

    def check_record(self, record: Any, line: int | None = None) -> dict[str, Any]:
        """The record; an error if it is none."""
        if not isinstance(record, dict):
            raise self.error(f"found {json.dumps(record)[:40]}, expected a record like {{...}}", line)
        return record

    def json_position(self, row: int) -> str:
        """Where a record stands: in which line, where records are lines."""
        filled = (number for number, line in enumerate(self.lines("replace"), 1) if line.strip())
        return f"record {row + 1}" if self.opening == "[" else f"line {next(islice(filled, row, None), '?')}"

    # Several questions in one file ----------------------------------------------------------

    def choose(self, questions: Iterable[str]) -> str:
        """The question that the user has named, or the only one there is."""
        known = list(dict.fromkeys(questions))
        if self.question in known:
            return str(self.question)
        if self.question is not None:
            raise self.error(f"there is no question {self.question!r}{did_you_mean(self.question, known)}")
        if len(known) == 1:
            return known[0]
        if not known:
            raise self.error("there is no answer in it, expected at least one")
        raise self.error(f"there are {len(known)} questions, name one with question=: {', '.join(known)}")


def _json_problem(error: ValueError | RecursionError) -> str:
    """Why a JSON value cannot be read."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
