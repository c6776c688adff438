"""Schemas of items: what is uploaded, known classes, names."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crowdpilot.service.schemas.fields import Address, Name, Plain, Share, Strict


class ItemIn(Strict):
    """An item: a text, an image, a sound or a video, or several of them."""

    name: Annotated[Plain, Field(max_length=500)] = ""
    text: Annotated[Plain, Field(max_length=200_000)] = ""
    image: Address = ""
    audio: Address = ""
    video: Address = ""
    machine: list[Share] | dict[Name, list[Share]] | None = None
    gold: Name | dict[Name, Name] | None = None


class ItemsIn(Strict):
    """Items to be classified."""

    items: Annotated[list[ItemIn], Field(min_length=1, max_length=200_000)]


class GoldIn(Strict):
    """Known classes of items, by the names of the items; with criteria a mapping for each."""

    gold: Annotated[dict[Name, Name | dict[Name, Name]], Field(min_length=1, max_length=200_000)]


class OverrideIn(Strict):
    """What an expert decides about items, by their names; null takes it back; with criteria a mapping."""

    labels: Annotated[dict[Name, Name | dict[Name, Name] | None], Field(min_length=1, max_length=10_000)]


class AskAgainIn(Strict):
    """Names of items on which so many more votes are wanted."""

    items: Annotated[list[Name], Field(min_length=1, max_length=10_000)]
    votes: Annotated[int, Field(ge=1, le=100)] = 1


class ItemNamesIn(Strict):
    """Names of items."""

    items: Annotated[list[Name], Field(min_length=1, max_length=200_000)]
