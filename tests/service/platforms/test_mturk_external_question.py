"""Workers from Amazon Mechanical Turk."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.platforms.mturk_external_question import (
    PREVIEW_ASSIGNMENT,
    XML_NAMESPACE,
    arrive,
    external_question,
    form_fields,
    submit_url,
)

QUERY = {
    "assignmentId": "123RVWYBAZW00EXAMPLE456RVWYBAZW00EXAMPLE",
    "hitId": "123RVWYBAZW00EXAMPLE",
    "workerId": "AZ3456EXAMPLE",
    "turkSubmitTo": "https://www.mturk.com/",
}


@given(st.text("abcxyz019-._~/?&=%<>\"'é", max_size=40), st.integers(0, 5000))
def test_the_question_holds_the_address_and_the_height(more, height):
    url = f"https://label.example/w/birds/mturk?{more}"
    root = ElementTree.fromstring(external_question(url, height))
    assert root.tag == f"{{{XML_NAMESPACE}}}ExternalQuestion"
    assert [(one.tag, one.text) for one in root] == [
        (f"{{{XML_NAMESPACE}}}ExternalURL", url),
        (f"{{{XML_NAMESPACE}}}FrameHeight", str(height)),
    ]


@pytest.mark.parametrize(
    "url", ["http://label.example/", "label.example", "https://", "javascript:alert(1)", ""]
)
def test_a_page_is_reached_over_https(url):
    with pytest.raises(ValueError, match="only pages over https"):
        external_question(url)


def test_a_height_is_not_negative():
    with pytest.raises(ValueError, match="a number of pixels"):
        external_question("https://label.example", -1)


def test_a_worker_comes_with_the_assignment_and_where_to_submit_it():
    submit = "https://www.mturk.com/mturk/externalSubmit"
    expected = ("mturk", "AZ3456EXAMPLE", QUERY["assignmentId"], "crowd", False, submit, "", False)
    assert arrive(QUERY) == expected
    assert arrive(QUERY, hits=[QUERY["hitId"]]) == expected


@pytest.mark.parametrize("more", [{}, QUERY, {"turkSubmitTo": "https://evil.example"}])
def test_a_preview_is_nobody_and_submits_nowhere(more):
    assert arrive({**more, "assignmentId": PREVIEW_ASSIGNMENT}) == (
        "mturk",
        "",
        "",
        "crowd",
        True,
        "",
        "",
        False,
    )


@pytest.mark.parametrize("name", QUERY)
def test_every_parameter_is_needed(name):
    with pytest.raises(ValueError, match=f"the address has no {name}; open the link on MTurk again"):
        arrive({key: value for key, value in QUERY.items() if key != name})


@pytest.mark.parametrize("name", ["assignmentId", "hitId", "workerId"])
@pytest.mark.parametrize("wrong", ["a b", "<b>", "é", "A" * 256, "ASSIGNMENT_ID", "A\n"])
def test_an_id_is_letters_and_digits(name, wrong):
    with pytest.raises(ValueError, match=f"the {name} in the address is not an id of MTurk"):
        arrive({**QUERY, name: wrong})


def test_another_hit_is_not_let_in():
    with pytest.raises(ValueError, match="belongs to another HIT"):
        arrive(QUERY, hits=["OTHER"])


@pytest.mark.parametrize("host", ["www.mturk.com", "workersandbox.mturk.com"])
@pytest.mark.parametrize("end", ["", "/"])
def test_the_form_goes_to_the_two_hosts_of_the_platform(host, end):
    assert submit_url(f"https://{host}{end}") == f"https://{host}/mturk/externalSubmit"


@pytest.mark.parametrize(
    "wrong",
    [
        "http://www.mturk.com",
        "https://www.mturk.com.evil.example",
        "https://www.mturk.com@evil.example",
        "https://evil.example/https://www.mturk.com",
        "https://www.mturk.com:8443",
        "https://www.mturk.com\\@evil.example",
        "https://www.mturk.com//evil.example",
        "https://www.mturk.com/\n",
        "//www.mturk.com",
        "www.mturk.com",
        "javascript:alert(1)//www.mturk.com",
        "https://mturk.com",
    ],
)
def test_the_form_goes_nowhere_else(wrong):
    with pytest.raises(ValueError, match="a host that is not of MTurk"):
        arrive({**QUERY, "turkSubmitTo": wrong})


@given(st.text())
def test_whatever_the_address_says_the_form_stays_on_the_platform(host):
    try:
        found = submit_url(host)
    except ValueError:
        return
    assert found.startswith(("https://www.mturk.com/", "https://workersandbox.mturk.com/"))


def test_the_form_holds_the_assignment_and_the_code():
    assert form_fields(arrive(QUERY), "CODE") == {"assignmentId": QUERY["assignmentId"], "code": "CODE"}


@pytest.mark.parametrize(("assignment", "code"), [(PREVIEW_ASSIGNMENT, "CODE"), (QUERY["assignmentId"], "")])
def test_there_is_no_form_before_the_end(assignment, code):
    with pytest.raises(ValueError, match="nothing to submit"):
        form_fields(arrive({**QUERY, "assignmentId": assignment}), code)
