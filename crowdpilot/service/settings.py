"""Settings of the service: database, secret, public address, and limits of sessions, rates and sizes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdpilot.service.signing import parse_secret, read_secret

SECRET_FILE = "crowdpilot.secret"
MIN_SECRET_CHARACTERS = 32


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the service runs.

    Parameters
    ----------
    database
        Address of the database: `sqlite:///file.db` or `postgresql+psycopg://user@host/name`.
    secret
        Signs tokens that browsers hold; the same in all processes. Several keys with spaces between them are
        for rotation: the first signs, all verify.
    address
        Under which people reach the service, without a slash at its end.
    session_seconds
        For how long the session of a worker is valid.
    requests_per_second, burst
        Requests that one worker may make in the long run, and at once; network addresses may make
        `app.WORKERS_PER_ADDRESS` times as many.
    max_body_bytes, max_upload_bytes
        Largest request: of JSON and forms, and of uploaded files.
    proxy
        Whether a proxy stands before the service, whose header says the addresses of callers.
    """

    database: str = "sqlite:///crowdpilot.db"
    secret: str = field(repr=False)
    address: str = "http://127.0.0.1:8000"
    session_seconds: float = 8 * 3600.0
    requests_per_second: float = 20.0
    burst: int = 60
    max_body_bytes: int = 1 << 20
    max_upload_bytes: int = 64 << 20
    proxy: bool = False

    def __post_init__(self) -> None:
        if min(map(len, self.secret.split()), default=0) < MIN_SECRET_CHARACTERS:
            raise ValueError(
                f"a key of the secret is shorter than {MIN_SECRET_CHARACTERS} characters (spaces and commas "
                "separate keys); leave the secret out to have one made"
            )

    @property
    def secure(self) -> bool:
        """Whether people reach the service over https, so that cookies may say so."""
        return self.address.startswith("https://")


def load_settings(
    database: str, address: str, *, secret: Path | None = None, proxy: bool = False,
    limits: bool = True, environ: Mapping[str, str] = os.environ,
) -> Settings:  # fmt: skip
    """Settings with the secret of the environment (CROWDPILOT_SECRET) or of a file, created if need be.

    Parameters
    ----------
    database
        Its address, or the path of an SQLite file.
    address
        Under which people reach the service.
    secret
        The file of the secret; if not given, `crowdpilot.secret` beside the SQLite file or here.
    proxy
        As for `Settings`.
    limits
        Whether there are rate limits.
    environ
        The environment.
    """
    url = database if "://" in database else f"sqlite:///{database}"
    folder = Path(url.removeprefix("sqlite:///")).parent if url.startswith("sqlite:///") else Path()
    if not folder.is_dir():
        raise ValueError(f"there is no folder '{folder}' for the database; make it first")
    text = parse_secret(environ.get("CROWDPILOT_SECRET", "")) or read_secret(secret or folder / SECRET_FILE)
    settings = Settings(database=url, secret=text, address=address.rstrip("/"), proxy=proxy)
    return settings if limits else replace(settings, requests_per_second=1e9, burst=10**9)
