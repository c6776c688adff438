"""What all platforms promise."""

from __future__ import annotations

import pytest

from crowdpilot.service.platforms import PLATFORMS, Arrival
from crowdpilot.service.platforms.platform import parameter, parse_xml


def test_only_mturk_may_show_our_pages_in_a_frame_and_be_posted_to():
    policies = {name: platform.policy for name, platform in PLATFORMS.items()}
    mturk = policies.pop("mturk")
    assert set(policies.values()) == {"frame-ancestors 'none'; form-action 'self'"}
    assert mturk == (
        "frame-ancestors https://worker.mturk.com https://www.mturk.com https://workersandbox.mturk.com; "
        "form-action 'self' https://www.mturk.com https://workersandbox.mturk.com"
    )


def test_every_platform_has_a_name_that_fits_the_table_and_one_for_people():
    assert all(len(name) <= 16 and platform.title for name, platform in PLATFORMS.items())


def test_an_arrival_is_no_preview_unless_it_says_so():
    assert Arrival("link", "ana") == ("link", "ana", "", "crowd", False, "", "", False)


def test_a_missing_parameter_is_named():
    with pytest.raises(ValueError, match="the address has no hitId; open the link on MTurk again"):
        parameter({}, "hitId", "MTurk")


@pytest.mark.parametrize(
    "text",
    [
        "<a>",
        "",
        "<a>\x00</a>",
        '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>',
        "<a>" + " " * (1 << 20) + "</a>",
        "<a>\ud800</a>",
    ],
)
def test_xml_that_is_not_well_formed_or_could_grow_is_refused(text):
    with pytest.raises(ValueError, match=r"^the answer is "):
        parse_xml(text, "the answer")
