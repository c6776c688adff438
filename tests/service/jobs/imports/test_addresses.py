from __future__ import annotations

import pytest

from crowdpilot.service.jobs.imports.addresses import check_allowed, normalise

ALLOWED = ("s3://bucket/items/", "file:///srv/items", "https://data.example.org/sets/")


@pytest.mark.parametrize("address", [
    "s3://bucket/items/", "s3://bucket/items", "s3://bucket/items/a/b.csv", "S3://bucket//items//a",
    "file:///srv/items/a", "https://data.example.org/sets/x.zip", "HTTPS://Data.Example.Org/sets/x.zip?v=2",
])  # fmt: skip
def test_what_lies_below_an_allowed_address_is_allowed(address: str) -> None:
    assert check_allowed(address, ALLOWED) == normalise(address)


@pytest.mark.parametrize("address", [
    "s3://bucket/", "s3://bucket/items-private/", "s3://other/items/", "s3://bucket/items/../secret/",
    "s3://bucket/items/%2e%2e/secret", "s3://bucket/items/%252e%252e/secret", "s3://bucket/items/..%2fsecret",
    "file:///srv/itemsx", "file:///etc/passwd", "/etc/passwd", "local:///srv/items/a", "memory://x",
    "zip://a.csv::s3://bucket/items/x.zip", "simplecache::s3://bucket/items/a", "s3://key:secret@bucket/items/",
    "s3://bucket\\items/", "s3://bucket/items/ a", "https://data.example.org.evil.org/sets/",
    "https://data.example.org@evil.org/sets/", "http://data.example.org/sets/", "ftp://bucket/items/", "",
    "https://data.example.org:444/sets/x", "s3://bucket/items/?version=1", "github://a:b@main/",
    "s3:bucket/items/",
])  # fmt: skip
def test_nothing_else_is(address: str) -> None:
    with pytest.raises(ValueError, match="address"):
        check_allowed(address, ALLOWED)


def test_by_default_nothing_is_allowed() -> None:
    with pytest.raises(ValueError, match="imports from no address"):
        check_allowed("s3://bucket/items/", ())
