"""Types of the fields of requests: texts, names, money, addresses, colours."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


def _check_encodable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the text holds a zero character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("the text holds half a character") from None
    return text


Plain = Annotated[str, AfterValidator(_check_encodable)]
Name = Annotated[Plain, Field(min_length=1, max_length=200)]
Kind = Annotated[Plain, Field(min_length=1, max_length=32)]
Prose = Annotated[Plain, Field(max_length=20_000)]
Address = Annotated[Plain, Field(max_length=2000, pattern=r"^(https?://[^\s]+)?$")]
Picture = Annotated[  # an address, or an uploaded file of a project
    Plain, Field(max_length=2000, pattern=r"^(https?://[^\s]+|/files/[0-9a-f]{12}/[0-9a-f]{64})?$")
]
Email = Annotated[Plain, Field(max_length=254, pattern=r"^[^@\s,;<>\"]+@[^@\s,;<>\"]+\.[^@\s,;<>\"]+$")]
Color = Annotated[Plain, Field(pattern=r"^(#[0-9a-fA-F]{6})?$")]
Currency = Annotated[Plain, Field(pattern=r"^([A-Z]{3})?$")]  # a code of ISO 4217, such as EUR
Code = Annotated[Plain, Field(max_length=64, pattern=r"^[A-Za-z0-9_-]*$")]  # a completion code


class Strict(BaseModel):
    """A schema that takes the described fields and no other."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
