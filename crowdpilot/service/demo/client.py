"""HTTP client of the demonstration, which waits and tries again when the service is busy or restarts."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

MAX_TRIES = 20  # of one request


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
        self._connection = http.client.HTTPConnection(self.host, timeout=60)

    def send(self, method: str, path: str, body: Any = None, type: str = "application/json") -> Any:
        """The response, parsed if it is JSON; `ValueError` with the detail of an error response."""
        data = json.dumps(body).encode() if type == "application/json" and body is not None else body
        for attempt in range(MAX_TRIES):
            try:
                self._connection.request(method, path, data, {**self.headers, "Content-Type": type})
                response = self._connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                self._connection.close()
                status = 503
            else:
                status = response.status
            if status not in (429, 503):
                break
            time.sleep(0.1 * 2 ** min(attempt, 5))
        else:
            raise ValueError(f"the service at {self.host} does not answer")
        if status >= 400:
            raise ValueError(json.loads(text)["detail"])
        return json.loads(text) if response.headers.get_content_type() == "application/json" else text

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def multipart(files: dict[str, bytes], type: str) -> tuple[bytes, str]:
    """The body of a form with files of one content type, and the content type of the form."""
    boundary = "crowdpilot-demo-7f3a9c"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {type}\r\n\r\n".encode()
        + data
        + b"\r\n"
        for name, data in files.items()
    ]
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"
