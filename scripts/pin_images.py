"""Pin the images of Dockerfile and compose.yaml by digest: `python scripts/pin_images.py`.

A tag such as python:3.13-slim can come to mean another image; with a digest it cannot. Run it where the
registry can be reached: before a release, and again when the images get security updates. `--check` changes
nothing and fails if an image has no digest.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

HOME = Path(__file__).parents[1]
FILES = ("Dockerfile", "compose.yaml")
IMAGE = re.compile(
    r"^(?P<lead>ARG \w+_IMAGE=|    image: )(?P<name>[a-z]+):(?P<tag>[\w.-]+)"
    r"(?P<digest>@sha256:[0-9a-f]{64})?$",
    re.MULTILINE,
)
REGISTRY, TOKENS = "https://registry-1.docker.io", "https://auth.docker.io"
INDEX = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
TIMEOUT_SECONDS = 30


def digest_of(name: str, tag: str, registry: str, tokens: str) -> str:
    """The digest of an official image for all its platforms, as the registry says."""
    scope = f"{tokens}/token?service=registry.docker.io&scope=repository:library/{name}:pull"
    with urlopen(scope, timeout=TIMEOUT_SECONDS) as answer:
        token = json.load(answer)["token"]
    headers = {"Authorization": f"Bearer {token}", "Accept": INDEX}
    request = Request(f"{registry}/v2/library/{name}/manifests/{tag}", headers=headers, method="HEAD")
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        digest = str(answer.headers.get("Docker-Content-Digest", ""))
    if not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        raise ValueError(f"the registry gave no digest of {name}:{tag}; try again later")
    return digest


def pin(text: str, registry: str, tokens: str) -> str:
    """The same text, in which each image has the digest that its tag has now."""
    return IMAGE.sub(
        lambda m: f"{m['lead']}{m['name']}:{m['tag']}@{digest_of(m['name'], m['tag'], registry, tokens)}",
        text,
    )


def main() -> None:
    """Pin all images, or check that they are pinned."""
    parser = argparse.ArgumentParser(description="Pin the images of Dockerfile and compose.yaml by digest.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if an image has no digest")
    parser.add_argument("--registry", default=REGISTRY, help="whom to ask for digests")
    parser.add_argument("--tokens", default=TOKENS, help="whom to ask for a token for the registry")
    options = parser.parse_args()
    texts = {path: path.read_text() for path in (HOME / name for name in FILES)}
    found = [image for text in texts.values() for image in IMAGE.finditer(text)]
    if options.check:
        if free := [f"{image['name']}:{image['tag']}" for image in found if not image["digest"]]:
            sys.exit(
                f"{' and '.join(free)} have no digest; run `make images` where the registry can be reached"
            )
        return
    try:
        for path, text in texts.items():
            path.write_text(pin(text, options.registry, options.tokens))
    except URLError as error:
        sys.exit(f"the registry cannot be reached ({error.reason}); nothing was changed in the file at hand")


if __name__ == "__main__":
    main()
