"""A real nginx before the service: configuration of docs/operations.md, a certificate of our own."""

from __future__ import annotations

import datetime
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from docs.hooks.blocks import blocks
from tests.equip import nginx as find_nginx
from tests.service.harness.waiting import eventually, free_port, need

PAGE = Path(__file__).parents[3] / "docs" / "operations.md"
CONFIGURATION = "/etc/nginx/conf.d/crowdpilot.conf"
ROOT_LOCATION = re.compile(r"^    location / \{.*?^    \}\n", re.MULTILINE | re.DOTALL)
ACCESS_LOG = "log_format short '$remote_addr $request_method $request_uri $status';"


def configuration(*, under_path: bool = False) -> str:
    """The configuration of the page; or the one that it gives for a path of a host."""
    found = [block for block in blocks(PAGE.read_text()) if block.language == "nginx"]
    [text] = [block.code for block in found if block.options.get("title") == CONFIGURATION]
    if not under_path:
        return text
    [locations] = [block.code for block in found if "title" not in block.options]
    return ROOT_LOCATION.sub(re.sub("^(?=.)", "    ", locations, flags=re.MULTILINE), text)


@dataclass(frozen=True)
class Nginx:
    """A running nginx: where it listens, and the certificate to trust."""

    address: str
    plain_address: str
    certificate: Path
    log: Path


@contextmanager
def running_nginx(folder: Path, service_port: int, port: int, text: str) -> Iterator[Nginx]:
    """An nginx with this configuration, whose ports and files are of this test, until the end of the block.

    Parameters
    ----------
    folder
        For its files.
    service_port
        Where the service listens.
    port
        Where nginx speaks TLS, in the place of 443.
    text
        The configuration.
    """
    program = need(find_nginx(), "nginx-light")
    plain = free_port()
    certificate = make_certificate(folder)
    here = {
        "listen 443": f"listen 127.0.0.1:{port}", "listen [::]:443": f"listen [::1]:{port}",
        "listen 80": f"listen 127.0.0.1:{plain}", "listen [::]:80": f"listen [::1]:{plain}",
        "label.example.org": "localhost", "127.0.0.1:8000": f"127.0.0.1:{service_port}",
    }  # fmt: skip
    for there, ours in here.items():
        assert there in text, f"{there} is not in the configuration"
        text = text.replace(there, ours)
    text = re.sub(r"ssl_certificate \S+;", f"ssl_certificate {certificate};", text)
    text = re.sub(r"ssl_certificate_key \S+;", f"ssl_certificate_key {folder / 'key.pem'};", text)
    (folder / "crowdpilot.conf").write_text(text)
    (folder / "nginx.conf").write_text(whole_configuration(folder, "crowdpilot.conf"))
    command = [program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr, checked.stderr
    process = subprocess.Popen(command)
    try:
        eventually(lambda: (folder / "nginx.pid").exists() and (folder / "nginx.pid").read_text())
        yield Nginx(
            f"https://localhost:{port}", f"http://localhost:{plain}", certificate, folder / "access.log"
        )
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def whole_configuration(folder: Path, included: str) -> str:
    """What Debian's nginx.conf has around the files that it includes, with a folder of ours."""
    user = "user root;\n" if os.geteuid() == 0 else ""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    return (
        f"{user}daemon off;\nworker_processes 1;\npid {folder}/nginx.pid;\n"
        "events { worker_connections 768; }\n"
        f"http {{\n{temporary}  {ACCESS_LOG}\n  access_log {folder}/access.log short;\n"
        f"  include {folder}/{included};\n}}\n"
    )


def make_certificate(folder: Path) -> Path:
    """A certificate for this machine that is valid for an hour; its key is beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(kept)
    (folder / "certificate.pem").write_bytes(made.public_bytes(pem))
    return folder / "certificate.pem"
