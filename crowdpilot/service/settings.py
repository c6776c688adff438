"""Settings of the service: database, secret, public address, and limits of sessions, rates and sizes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import urlsplit

from crowdpilot.service.mail_server import MailServer
from crowdpilot.service.signing import parse_secret, read_secret

Network = IPv4Network | IPv6Network

SECRET_FILE = "crowdpilot.secret"
MIN_SECRET_CHARACTERS = 32
BASE_PATH = re.compile(r"(/[A-Za-z0-9_-]+)*", re.ASCII)  # goes into headers and pages as it is
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
IMPORT_PREFIX = re.compile(r"https?://|[a-z][a-z0-9+.-]*://[^\s\\]+")  # of the web everything may be allowed
OIDC_RULE = re.compile(r"\*|[^\s=@]*@[^\s=@]+|[^\s=]+=\S+")
OWN_PATHS = (  # how paths of ours begin: such a base path could not be told from one that a proxy stripped
    "api", "files", "healthz", "keys", "label-studio", "log", "login", "logout", "members", "metrics",
    "projects", "readyz", "static", "w",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class IdentityProvider:
    """A provider of OpenID Connect at which people sign in.

    Parameters
    ----------
    issuer
        Its address, under which `/.well-known/openid-configuration` is found.
    client_id, client_secret
        What it knows the service by; a public client has no secret.
    allow
        Who may sign in, by any of these rules: `ann@example.org`, `@example.org` (e-mail addresses that the
        provider has verified), `CLAIM=VALUE` (of the ID token), or `*` for everybody of the issuer.
    operators
        Who is an operator, by the same rules, decided at each sign-in; if empty, it decides nothing.
    name
        What people call it.
    """

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    allow: tuple[str, ...]
    operators: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.issuer)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
        if not safe or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"the issuer {self.issuer!r} is not an https address; copy it from the provider")
        if not self.client_id:
            raise ValueError("OpenID Connect needs a client id; register the service at the provider")
        if not self.allow:
            raise ValueError(
                "nobody may sign in; say who, such as --oidc-allow @example.org, or '*' for everybody"
            )
        for rule in (*self.allow, *self.operators):
            if not OIDC_RULE.fullmatch(rule):
                raise ValueError(
                    f"{rule!r} does not say who may sign in; write ann@example.org, @example.org, "
                    "CLAIM=VALUE or *"
                )

    @property
    def title(self) -> str:
        """What people call it, or its host."""
        return self.name or urlsplit(self.issuer).hostname or self.issuer


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
        Under which people reach the service, without a slash at its end; it may have a path.
    session_seconds
        For how long the session of a worker is valid.
    requests_per_second, burst
        Requests that one worker may make in the long run, and at once; network addresses may make
        `app.WORKERS_PER_ADDRESS` times as many.
    max_body_bytes, max_json_bytes, max_upload_bytes
        Largest request: of most routes, of JSON with many items or votes, and of tables and files.
    header_seconds, body_seconds
        In which the headers of a request have to arrive, and its body unless it is large.
    max_connections, max_connections_per_address
        Open at once in each web process; the latter does not count behind a proxy.
    proxies
        Proxies before the service whose headers say the addresses of callers.
    log_format, access_log
        "text" or "json", and whether every request is logged.
    shared
        A folder for rate limits and metrics of all web processes; if empty, each has its own.
    webhook_networks
        Networks that webhooks may reach although they are not public, such as that of a company.
    identity_provider
        Where members sign in besides keys, if anywhere.
    mail_server
        Over which e-mails are sent; if there is none, none are.
    import_from
        Addresses below which projects may import items, such as `s3://bucket/items/`.
    """

    database: str = "sqlite:///crowdpilot.db"
    secret: str = field(repr=False)
    address: str = "http://127.0.0.1:8000"
    session_seconds: float = 8 * 3600.0
    requests_per_second: float = 20.0
    burst: int = 60
    max_body_bytes: int = 1 << 20
    max_json_bytes: int = 8 << 20
    max_upload_bytes: int = 64 << 20
    header_seconds: float = 10.0
    body_seconds: float = 20.0
    max_connections: int = 2000
    max_connections_per_address: int = 500
    proxies: tuple[Network, ...] = ()
    log_format: str = "text"
    access_log: bool = False
    shared: str = ""
    webhook_networks: tuple[Network, ...] = ()
    identity_provider: IdentityProvider | None = None
    mail_server: MailServer | None = None
    import_from: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if min(map(len, self.secret.split()), default=0) < MIN_SECRET_CHARACTERS:
            raise ValueError(
                f"a key of the secret is shorter than {MIN_SECRET_CHARACTERS} characters (spaces and commas "
                "separate keys); leave the secret out to have one made"
            )
        parts = urlsplit(self.address)
        if not BASE_PATH.fullmatch(parts.path) or parts.query or parts.fragment:
            raise ValueError(
                f"the path of the address {self.address!r} may have letters, digits, '-' and '_' only; "
                "give one such as https://example.org/label"
            )
        if self.base and self.base.split("/")[1] in OWN_PATHS:
            raise ValueError(
                f"{self.base!r} is a path of the service itself; give the address another, such as /label"
            )

        for prefix in self.import_from:
            if not IMPORT_PREFIX.fullmatch(prefix):
                raise ValueError(
                    f"{prefix!r} is no address to import from; write it as in s3://bucket/folder/"
                )

    @property
    def base(self) -> str:
        """The path of the address, such as `/label`, with which the paths of all our addresses begin."""
        return urlsplit(self.address).path

    @property
    def secure(self) -> bool:
        """Whether people reach the service over https, so that cookies may say so."""
        return self.address.startswith("https://")


def database_url(database: str) -> str:
    """The address of a database that is given by it, or by the path of an SQLite file."""
    return database if "://" in database else f"sqlite:///{database}"


def default_secret_file(url: str) -> Path:
    """The file of the secret if no other is named: beside the SQLite file, or here."""
    path = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else Path()
    return path.parent / SECRET_FILE


def load_settings(
    database: str, address: str, *, secret: Path | None = None, proxies: Sequence[str] = (),
    webhook_networks: Sequence[str] = (), log_format: str = "text", access_log: bool = False,
    identity_provider: IdentityProvider | None = None, mail_server: MailServer | None = None,
    import_from: Sequence[str] = (), limits: bool = True,
    environ: Mapping[str, str] = os.environ,
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
    proxies, webhook_networks, log_format, access_log, identity_provider, mail_server, import_from
        As for `Settings`.
    limits
        Whether there are rate limits.
    environ
        The environment.
    """
    url = database_url(database)
    beside = default_secret_file(url)
    if not beside.parent.is_dir():
        raise ValueError(f"there is no folder '{beside.parent}' for the database; make it first")
    text = parse_secret(environ.get("CROWDPILOT_SECRET", "")) or read_secret(secret or beside)
    settings = Settings(
        database=url, secret=text, address=address.rstrip("/"), proxies=parse_networks(proxies),
        webhook_networks=parse_networks(webhook_networks), log_format=log_format, access_log=access_log,
        identity_provider=identity_provider, mail_server=mail_server, import_from=tuple(import_from),
    )  # fmt: skip
    return settings if limits else replace(settings, requests_per_second=1e9, burst=10**9)


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks as an operator writes them; a `ValueError` names one that is none.

    Examples
    --------
    >>> parse_networks(["10.20.0.0/16"])
    (IPv4Network('10.20.0.0/16'),)
    """
    networks: list[Network] = []
    for text in texts:
        try:
            networks.append(ip_network(text))
        except ValueError:
            raise ValueError(f"{text!r} is no network; write it as in 10.20.0.0/16 or fd12::/64") from None
    return tuple(networks)
