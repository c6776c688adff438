"""Settings: what a running service needs to know, in one object that is handed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdpilot.service.signing import read_secret

SECRET = "crowdpilot.secret"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the service runs.

    Parameters
    ----------
    database
        Address of the database: `sqlite:///file.db` or `postgresql+psycopg://user@host/name`.
    secret
        Signs what is handed to browsers; the same in all processes.
    address
        Under which people reach the service, without a slash at its end.
    session_seconds
        Seconds for which a worker's session is good.
    rate, burst
        Requests per second that one worker or one address may make in the long run, and at once.
    body, upload
        Largest request in bytes: of JSON and forms, and of uploaded files.
    proxy
        Whether a proxy stands before the service, whose word on the callers' addresses is taken.
    """

    database: str = "sqlite:///crowdpilot.db"
    secret: str = field(repr=False)
    address: str = "http://127.0.0.1:8000"
    session_seconds: float = 8 * 3600.0
    rate: float = 20.0
    burst: int = 60
    body: int = 1 << 20
    upload: int = 64 << 20
    proxy: bool = False

    def __post_init__(self) -> None:
        if len(self.secret) < 32:
            raise ValueError("the secret is shorter than 32 characters; leave it out to have one made")

    @property
    def secure(self) -> bool:
        """Whether people reach the service over https, so that cookies may say so."""
        return self.address.startswith("https://")


def load_settings(
    database: str, address: str, *, secret: Path | None = None, proxy: bool = False,
    limits: bool = True, environ: Mapping[str, str] = os.environ,
) -> Settings:  # fmt: skip
    """Settings with the secret of the environment (CROWDPILOT_SECRET) or of a file that is made if need be.

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
        Whether callers are kept from asking too often.
    environ
        The environment.
    """
    url = database if "://" in database else f"sqlite:///{database}"
    beside = Path(url.removeprefix("sqlite:///")).parent if url.startswith("sqlite:///") else Path()
    if not beside.is_dir():
        raise ValueError(f"there is no folder '{beside}' for the database; make it first")
    found = environ.get("CROWDPILOT_SECRET") or read_secret(secret or beside / SECRET)
    made = Settings(database=url, secret=found, address=address.rstrip("/"), proxy=proxy)
    return made if limits else replace(made, rate=1e9, burst=10**9)
