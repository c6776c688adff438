"""Settings: what a running service needs to know, in one object that is handed down."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    seat
        Seconds for which a worker's session is good.
    rate, burst
        Requests per second that one worker or one address may make in the long run, and at once.
    body, upload
        Largest request in bytes: of JSON and forms, and of uploaded files.
    """

    database: str = "sqlite:///crowdpilot.db"
    secret: str = field(repr=False)
    address: str = "http://127.0.0.1:8000"
    seat: float = 8 * 3600.0
    rate: float = 20.0
    burst: int = 60
    body: int = 1 << 20
    upload: int = 64 << 20

    def __post_init__(self) -> None:
        if len(self.secret) < 32:
            raise ValueError("the secret is shorter than 32 characters; leave it out to have one made")

    @property
    def secure(self) -> bool:
        """Whether people reach the service over https, so that cookies may say so."""
        return self.address.startswith("https://")
