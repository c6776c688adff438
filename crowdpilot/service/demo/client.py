"""A small HTTP client for the demonstration, which waits and tries again like a worker's page does."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 20  # tries before it gives up


class Client:
    """One connection to the service.

    Parameters
    ----------
    address
        Of the service.
    headers
        Sent with every request.
    """

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self.host = urlsplit(address).netloc
        self.headers = headers
        self._line = http.client.HTTPConnection(self.host, timeout=60)

    def send(self, method: str, path: str, body: Any = None, type: str = "application/json") -> Any:
        """What the service answers; a `ValueError` if it refuses."""
        data = json.dumps(body).encode() if type == "application/json" and body is not None else body
        for attempt in range(PATIENCE):
            try:
                self._line.request(method, path, data, {**self.headers, "Content-Type": type})
                answer = self._line.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                self._line.close()
                status = 503
            else:
                status = answer.status
            if status not in (429, 503):
                break
            time.sleep(0.1 * 2 ** min(attempt, 5))
        else:
            raise ValueError(f"the service at {self.host} does not answer")
        if status >= 400:
            raise ValueError(json.loads(text)["detail"])
        return json.loads(text) if answer.headers.get_content_type() == "application/json" else text

    def close(self) -> None:
        """Hang up."""
        self._line.close()


def multipart(files: dict[str, bytes], type: str) -> tuple[bytes, str]:
    """A form with files of one type, and the content type of the form."""
    line = "crowdpilot-demo-7f3a9c"
    parts = [
        f'--{line}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {type}\r\n\r\n".encode()
        + data
        + b"\r\n"
        for name, data in files.items()
    ]
    return b"".join(parts) + f"--{line}--\r\n".encode(), f"multipart/form-data; boundary={line}"
