"""Text in any encoding: detected, named, or refused in a sentence."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import ReadingWarning, explain, read
from crowdpilot.io.sources.encodings import detect_encoding, find_encoding, is_western

pytestmark = pytest.mark.usefixtures("each_engine")
TEXT = "task,worker,label\na,Jürgen,café\nb,Zoë,thé\nc,x,naïve\n"
VOTES = [("a", "Jürgen", "café"), ("b", "Zoë", "thé"), ("c", "x", "naïve")]
CYRILLIC = "task,worker,label\na,Анна,кошка\nb,Анна,собака\n"
JSON = '{"task": "a", "worker": "Zoë", "label": "thé"}\n{"task": "b", "worker": "Zoë", "label": "café"}\n'


def detect(content: bytes) -> str:
    return detect_encoding(lambda: io.BytesIO(content))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"]
)
def test_a_file_is_read_in_its_encoding(save, rows, encoding):
    reading = explain(save("votes.csv", TEXT.encode(encoding)))
    assert rows(reading.votes) == VOTES
    is_guessed = encoding in ("cp1252", "latin-1")
    assert [note for note in reading.notes if "--encoding" in note] == list(reading.notes)
    assert len(reading.notes) == is_guessed


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_formats_of_text_are_decoded_as_well(save, rows, encoding):
    said = [("a", "Zoë", "thé"), ("b", "Zoë", "café")]
    assert rows(explain(save("votes.jsonl", JSON.encode(encoding))).votes) == said
    array = f"[{JSON.replace(chr(10), ',').rstrip(',')}]"
    assert rows(explain(save("votes.json", array.encode(encoding))).votes) == said
    packed = gzip.compress(TEXT.encode(encoding))
    assert rows(explain(save("votes.csv.gz", packed)).votes) == VOTES


def test_a_guessed_encoding_is_a_warning_with_the_option_that_settles_it(save, rows):
    path = save("votes.csv", TEXT.encode("cp1252"))
    with pytest.warns(ReadingWarning, match=r"votes.csv: the text is not UTF-8 .* encoding= \(--encoding"):
        read(path)
    assert rows(read(path, encoding="windows-1252")) == VOTES


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "iso8859-5", "mac_cyrillic"])
def test_another_alphabet_is_not_taken_for_western_letters(save, rows, encoding):
    path = save("votes.csv", CYRILLIC.encode(encoding))
    with pytest.raises(ValueError, match=r"line 2: found bytes that are not UTF-8; .*\(--encoding NAME\)"):
        read(path)
    assert rows(read(path, encoding=encoding))[0] == ("a", "Анна", "кошка")


@pytest.mark.parametrize("encoding", ["shift_jis", "gbk", "euc_kr"])
def test_nor_are_characters_of_two_bytes(encoding):
    words = {"shift_jis": "猫,犬", "gbk": "是,否", "euc_kr": "예,아니요"}[encoding]
    assert not is_western(f"task,{words}\n".encode(encoding))


def test_broken_utf8_is_not_taken_for_western_letters(save):
    broken = TEXT.encode().replace("thé".encode(), b"th\xc3")
    with pytest.raises(ValueError, match="line 3: found bytes that are not UTF-8"):
        read(save("votes.csv", broken))


def test_a_letter_far_below_is_found(save):
    content = "task,worker,label\n" + "a,x,cat\n" * 600_000
    reading = explain(save("votes.csv", content.encode() + b"b,x,caf\xe9\n"), repeats="last")
    assert reading.votes.classes.tolist() == ["café", "cat"]
    assert len(reading.notes) == 1


def test_the_named_encoding_has_to_fit(save):
    path = save("votes.csv", TEXT.encode("cp1252"))
    with pytest.raises(ValueError, match=r"votes.csv, line 2: found bytes that are not UTF-8"):
        read(path, encoding="utf-8")
    with pytest.raises(ValueError, match=r"votes.csv.*: found bytes that are not ascii; name the encoding"):
        read(path, encoding="ascii")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("latn1", "did you mean latin_1?"),
        ("uft-8", "did you mean utf_8?"),
        ("base64", "expected one such as"),
    ],
)
def test_an_encoding_that_does_not_exist_is_an_error(save, name, hint):
    with pytest.raises(ValueError, match=f"votes.csv: there is no encoding '{name}'; ") as error:
        read(save("votes.csv", TEXT), encoding=name)
    assert hint in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"PAR1\x15\x04\x15\x10", bytes(range(256)), b"\xff"])
def test_what_is_no_text_is_left_as_it_is(content):
    assert detect(content) == "utf-8" or content == b"\xff"


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.sampled_from(["utf-8", "utf-16", "utf-32"])
)
def test_text_with_its_mark_or_in_utf8_is_never_taken_for_another(text, encoding):
    content = text.encode(encoding)
    assert find_encoding(detect(content)) == encoding or content[:2] in (b"\xff\xfe", b"\xfe\xff")
