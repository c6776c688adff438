"""Labelling configurations of Label Studio."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.platforms.label_studio.config import read_config, read_question, write_config

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
    min_size=1,
)
TWO = '<Choice value="a"/><Choice value="b"/>'
TEXT = '<Text name="text" value="$review"/>'


def view(*inner: str) -> str:
    return f"<View>{''.join(inner)}</View>"


def choices(inner: str = TWO, **more: str) -> str:
    given = {"name": "sentiment", "toName": "text", **more}
    attributes = " ".join(f'{name}="{value}"' for name, value in given.items())
    return f"<Choices {attributes}>{inner}</Choices>"


@given(
    st.lists(NAMES, min_size=2, max_size=5, unique=True),
    NAMES | st.just(""),
    st.sampled_from([("text",), ("image",), ("image", "text")]),
)
def test_a_configuration_that_we_write_is_read_back(classes, question, shows):
    config = read_config(write_config(classes, question=question, shows=shows))
    assert config == (tuple(classes), {kind: kind for kind in shows}, "label", shows[0])


def test_the_configuration_is_the_one_that_label_studio_knows():
    assert write_config(["cat", 'big "dog" <b>'], question="What is it?", shows=["image"]) == (
        '<View><Header value="What is it?" /><Image name="image" value="$image" />'
        '<Choices name="label" toName="image" choice="single" required="true"><Choice value="cat" />'
        '<Choice value="big &quot;dog&quot; &lt;b&gt;" /></Choices></View>'
    )


@pytest.mark.parametrize("classes", [["a\x00", "b"], ["a", "a"], ["a"], ["a", ""], ["a", "\ud800"]])
def test_classes_that_cannot_be_written_are_refused(classes):
    with pytest.raises(ValueError, match=r"labelling configuration|XML"):
        write_config(classes)


def test_the_names_and_fields_of_others_are_kept_and_aliases_are_what_annotations_say():
    inner = '<Choice value="Good" alias="good"/><View><Choice value="bad"/></View>'
    text = view("<Style>p {}</Style>", TEXT, "<!-- x -->", choices(inner, choice="single-radio"))
    assert read_config(text) == (("good", "bad"), {"text": "review"}, "sentiment", "text")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (view(TEXT), "has 0 single choices"),
        (view(TEXT, choices(choice="multiple")), "has 0 single choices"),
        (view(TEXT, choices(), choices(name="other")), "has 2 single choices"),
        (view(TEXT, choices('<Choice value="a"/>')), "two or more Choice tags"),
        (view(choices()), "ask about a Text, Image, Audio or Video"),
        (
            view('<TimeSeries name="text" value="$sound"/>', choices()),
            "ask about a Text, Image, Audio or Video",
        ),
        (
            view('<Text name="text" value="always this"/>', choices()),
            "ask about a Text, Image, Audio or Video",
        ),
        (view(TEXT, choices(toName="nothing")), "ask about a Text, Image, Audio or Video"),
        (view(TEXT, choices(name="")), "ask about a Text, Image, Audio or Video"),
        ("<View>", "not well-formed XML"),
        ('<!DOCTYPE View [<!ENTITY a "b">]><View/>', "declares a document type"),
    ],
)
def test_what_is_not_one_choice_about_a_text_or_an_image_is_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        read_config(text)


def test_sounds_and_videos_are_shown_too() -> None:
    config = read_config(write_config(["yes", "no"], shows=["audio", "video"]))
    assert config.fields == {"audio": "audio", "video": "video"}
    assert config.about == "audio"


def test_one_of_several_choices_is_chosen_by_its_name_and_those_about_parts_do_not_count():
    other = choices('<Choice value="loud"/><Choice value="soft"/>', name="tone")
    parts = choices(name="part", perRegion="true")
    text = view('<Header value="How does it sound?"/>', TEXT, other, choices(), parts)
    assert read_config(text, "tone").classes == ("loud", "soft")
    assert read_config(text, "sentiment").classes == ("a", "b")
    with pytest.raises(ValueError, match=r"2 single choices; say which is asked: tone, sentiment$"):
        read_config(text)
    with pytest.raises(ValueError, match=r"no single choice 'part'; it has tone, sentiment$"):
        read_config(text, "part")
    assert read_question(text, "tone") == "How does it sound?"


@pytest.mark.parametrize(
    ("tag", "kind"),
    [
        ("Text", "text"), ("HyperText", "text"), ("Paragraphs", "text"), ("Image", "image"),
        ("Audio", "audio"), ("AudioPlus", "audio"), ("Video", "video"),
    ],
)  # fmt: skip
def test_what_is_asked_about_goes_before_others_of_its_kind(tag, kind):
    first = f'<{tag} name="other" value="$other"/>'
    text = view(first, f'<{tag} name="text" value="$page.body"/>', choices())
    assert read_config(text).fields == {kind: "page.body"}
