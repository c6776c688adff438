"""Workers from Prolific."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.platforms.prolific import arrive, completion_url, study_url

PID, STUDY, SESSION = "5f" * 12, "60d9aadeb86739de712faee0", "0a1b2c3d4e5f60718293a4b5"
QUERY = {"PROLIFIC_PID": PID, "STUDY_ID": STUDY, "SESSION_ID": SESSION}
ADDRESS = "https://label.example/w/birds/prolific"
KEY, OTHER = generate_private_key(65537, 2048), generate_private_key(65537, 2048)
SHORT = generate_private_key(65537, 1024)


def plain(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def jwk(key: RSAPrivateKey, name: str = "k1", **more: object) -> dict[str, object]:
    public = key.public_key().public_numbers()
    size = (public.n.bit_length() + 7) // 8
    numbers = {"n": plain(public.n.to_bytes(size)), "e": plain(public.e.to_bytes(3))}
    about = {"kty": "RSA", "kid": name, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}
    return {**about, **numbers, **more}


KEYS = {"keys": [jwk(OTHER, "k0"), jwk(KEY)]}


def token(key: RSAPrivateKey = KEY, head: dict[str, object] | None = None, **claims: object) -> str:
    now = time.time()
    said = {
        "iss": "https://www.prolific.com",
        "aud": ADDRESS,
        "sub": SESSION,
        "iat": now,
        "exp": now + 300,
        "prolific": {**QUERY, "workspace_id": "w1"},
    }
    parts = ({"alg": "RS256", "typ": "JWT", "kid": "k1", **(head or {})}, {**said, **claims})
    signed = ".".join(plain(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{plain(key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def come(signed: str, **more: str):
    return arrive({"prolific_token": signed, **more}, studies=[STUDY], keys=KEYS, audience=ADDRESS)


def test_a_worker_comes_with_three_ids():
    assert arrive(QUERY) == ("prolific", PID, SESSION, "crowd", False, "", "", False)
    assert arrive(QUERY, studies=[STUDY]).external == PID
    assert arrive({**QUERY, "SESSION_ID": "035orbpf1pk3"}).assignment == "035orbpf1pk3"  # of a preview


@pytest.mark.parametrize("name", QUERY)
def test_all_three_ids_are_needed(name):
    with pytest.raises(ValueError, match=f"the address has no {name}; open the link on Prolific again"):
        arrive({**QUERY, name: ""})


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID"])
@pytest.mark.parametrize(
    "wrong", [PID[1:], PID + "0", "g" * 24, PID.upper(), PID[1:] + "٣", PID + "\n", "{{%PROLIFIC_PID%}}"]
)
def test_an_id_has_24_hexadecimal_digits(name, wrong):
    with pytest.raises(ValueError, match=f"the {name} in the address is not an id of Prolific"):
        arrive({**QUERY, name: wrong})


@given(st.text(min_size=1).filter(lambda text: not (text.isascii() and text.isalnum() and len(text) <= 64)))
def test_a_session_is_letters_and_digits(session):
    with pytest.raises(ValueError, match="the SESSION_ID in the address is not an id of Prolific"):
        arrive({**QUERY, "SESSION_ID": session})


def test_another_study_is_not_let_in():
    with pytest.raises(ValueError, match="the link belongs to another study"):
        arrive(QUERY, studies=["a" * 24])


def test_the_link_to_publish_has_the_placeholders():
    assert study_url(ADDRESS) == (
        f"{ADDRESS}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
    )
    assert study_url(f"{ADDRESS}?a=1").startswith(f"{ADDRESS}?a=1&PROLIFIC_PID=")


def test_what_prolific_makes_of_the_link_is_let_in():
    url = study_url(ADDRESS)
    for name, value in QUERY.items():
        url = url.replace(f"{{{{%{name}%}}}}", value)
    found = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert arrive(found).external == PID


def test_a_worker_leaves_with_the_code():
    assert completion_url("C1A2") == "https://app.prolific.com/submissions/complete?cc=C1A2"
    assert completion_url("a&b=c/#").endswith("?cc=a%26b%3Dc%2F%23")
    with pytest.raises(ValueError, match="wants a completion code"):
        completion_url("")


def test_a_signed_link_is_let_in_with_or_without_plain_ids():
    expected = ("prolific", PID, SESSION, "crowd", False, "", "", False)
    assert come(token()) == expected
    assert come(token(), **QUERY) == expected
    assert come(token(aud="label.example")) == expected
    assert come(token(aud=["https://other.example", "https://LABEL.example/"])) == expected


def test_with_keys_an_unsigned_link_is_not_let_in():
    with pytest.raises(ValueError, match="the address has no prolific_token"):
        arrive(QUERY, keys=KEYS, audience=ADDRESS)


def test_every_changed_character_of_a_signed_token_is_refused():
    signed = token()
    for position, character in enumerate(signed):
        other = "B" if character == "A" else "A"
        with pytest.raises(ValueError, match=r"."):
            come(signed[:position] + other + signed[position + 1 :])


def test_the_last_character_has_one_spelling_only():
    signed = token()
    accepted = 0
    for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        try:
            come(signed[:-1] + other)
        except ValueError:
            continue
        accepted += 1
    assert accepted == 1


@pytest.mark.parametrize("more", ["=", "==", " ", "\n", ".", "A"])
def test_nothing_can_be_added_to_a_signed_token(more):
    for changed in (token() + more, more + token()):
        with pytest.raises(ValueError, match="is not valid"):
            come(changed)


@given(st.text())
def test_a_text_that_is_no_token_is_refused(text):
    with pytest.raises(ValueError, match=r"not valid|has no prolific_token"):
        come(text)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"key": OTHER}, "is not valid"),
        ({"head": {"alg": "none"}}, "is not valid"),
        ({"head": {"alg": "HS256"}}, "is not valid"),
        ({"head": {"crit": ["exp"]}}, "is not valid"),
        ({"head": {"kid": "k9"}}, "unknown key"),
        ({"head": {"kid": None}}, "is not valid"),
        ({"exp": 1}, "has expired"),
        ({"exp": None}, "has expired"),
        ({"exp": True}, "has expired"),
        ({"exp": "9999999999"}, "is not valid"),
        ({"exp": float("nan")}, "is not valid"),
        ({"aud": "https://other.example"}, "meant for another address"),
        ({"aud": "https://label.example.evil.example"}, "meant for another address"),
        ({"aud": None}, "meant for another address"),
        ({"aud": {}}, "meant for another address"),
        ({"prolific": None}, "has no PROLIFIC_PID"),
        ({"prolific": {**QUERY, "PROLIFIC_PID": 7}}, "is not an id of Prolific"),
        ({"prolific": {**QUERY, "STUDY_ID": "a" * 24}}, "another study"),
    ],
)
def test_a_signed_link_that_says_something_else_is_refused(wrong, problem):
    with pytest.raises(ValueError, match=problem):
        come(token(**wrong))


def test_plain_ids_that_are_not_the_signed_ones_are_refused():
    with pytest.raises(ValueError, match="not the one that was signed"):
        come(token(), **{**QUERY, "PROLIFIC_PID": "a" * 24})


def test_a_token_that_was_good_expires():
    now = time.time()
    assert come(token(exp=now + 100)).external == PID
    with pytest.raises(ValueError, match="has expired"):
        come(token(exp=now - 100))


def test_without_an_address_of_our_own_no_signed_link_is_for_us():
    with pytest.raises(ValueError, match="meant for another address"):
        arrive({"prolific_token": token(aud="")}, keys=KEYS)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({}, "not a JWKS"),
        ({"keys": [3]}, "unknown key"),
        ({"keys": [jwk(KEY), jwk(OTHER)]}, "unknown key"),
        ({"keys": [jwk(KEY, use="enc")]}, "unknown key"),
        ({"keys": [jwk(KEY, kty="oct", k="c2VjcmV0")]}, "unknown key"),
        ({"keys": [jwk(KEY, e="AA")]}, "not valid"),
        ({"keys": [jwk(KEY, n="AQAB")]}, "not valid"),
        ({"keys": [jwk(KEY, n=None)]}, "not valid"),
        ({"keys": [jwk(SHORT)]}, "fewer than 2048 bits"),
    ],
)
def test_keys_that_cannot_be_trusted_are_refused(keys, problem):
    with pytest.raises(ValueError, match=problem):
        arrive({"prolific_token": token()}, keys=keys, audience=ADDRESS)


def test_without_cryptography_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("crowdpilot.service.platforms.signed_tokens.has_crypto", False)
    with pytest.raises(ValueError, match="needs cryptography: pip install cryptography"):
        come(token())
