"""Stand-ins for what a test machine must not do: systemd's services, packages and users of the whole machine.

`python stand_ins.py ROOT PROGRAM WORDS` does what `PROGRAM WORDS` would do on a server whose root is ROOT.
All else that a page of the docs calls is the real program.
"""

from __future__ import annotations

import configparser
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

STOP_SECONDS = 30.0
NGINX = "nginx"


class Root:
    """The root of a server in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def apt_get(self, command: str, *words: str) -> None:
        """Only simulate what would be installed."""
        if command != "update" and Path("/usr/bin/apt-get").exists():
            subprocess.run(["/usr/bin/apt-get", "--simulate", "--quiet", command, *words], check=True)

    def useradd(self, *words: str) -> None:
        """The real one, on the users of this root."""
        subprocess.run(["/usr/sbin/useradd", "--prefix", str(self.root), *words], check=True)

    def install(self, *words: str) -> None:
        """The real one, for whoever runs the test."""
        left = list(words)
        for option in ("--owner", "--group"):
            if option in left:
                self._check_user(left.pop(left.index(option) + 1))
                left.remove(option)
        subprocess.run(["/usr/bin/install", *left], check=True)

    def chown(self, owner: str, *paths: str) -> None:
        """Check that users and files are there."""
        for user in owner.split(":"):
            self._check_user(user)
        assert all(Path(path).exists() for path in paths)

    def runuser(self, *words: str) -> None:
        """Run a command as whoever runs the test."""
        option, user, dashes, *command = words
        assert (option, dashes) == ("-u", "--")
        self._check_user(user)
        sys.exit(subprocess.run(command).returncode)

    def _check_user(self, name: str) -> None:
        known = [line.split(":")[0] for line in (self.root / "etc/passwd").read_text().splitlines()]
        assert name in ("root", *known), f"there is no user {name}"

    def nginx(self, *words: str) -> None:
        """The real one, with the configuration of this root."""
        subprocess.run(self._nginx(*words), check=True)

    def _nginx(self, *words: str) -> list[str]:
        conf, log = self.root / "etc/nginx/nginx.conf", self.root / "var/log/nginx.log"
        return [os.environ["NGINX_PROGRAM"], "-p", str(self.root), "-c", str(conf), "-e", str(log), *words]

    def journalctl(self, *words: str) -> None:
        """The log of a unit."""
        print((self.root / f"var/log/{words[words.index('--unit') + 1]}.log").read_text())

    def systemctl(self, command: str, *words: str) -> None:
        """Start, stop and restart services as their units say."""
        units = [word for word in words if not word.startswith("--")]
        if command in ("restart", "stop"):
            for unit in units:
                self._stop(unit)
        if command in ("restart", "start") or (command == "enable" and "--now" in words):
            for unit in units:
                self._start(unit)
        if command == "reload":
            for unit in units:
                assert unit == NGINX
                self._reload_nginx()

    def _reload_nginx(self) -> None:
        if (self.root / f"run/{NGINX}.pid").exists():
            self.nginx("-s", "reload")
            return
        self._spawn(NGINX, self._nginx(), dict(os.environ), self.root)
        file, deadline = self.root / "nginx.pid", time.monotonic() + STOP_SECONDS
        while not (file.exists() and file.read_text()):
            assert time.monotonic() < deadline, "nginx does not start"
            time.sleep(0.05)

    def _start(self, unit: str) -> None:
        if unit.endswith(".timer"):
            assert (self.root / f"etc/systemd/system/{unit}").exists()
            return
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of systemd have capitals
        parser.read(self.root / f"etc/systemd/system/{unit}.service")
        service = parser["Service"]
        lines = Path(service["EnvironmentFile"]).read_text().splitlines()
        environ = {"PATH": "/usr/bin:/bin", **dict(line.split("=", 1) for line in lines if "=" in line)}
        folder = Path(service.get("WorkingDirectory", "/"))
        command = _words(service["ExecStart"])
        if service.get("Type") == "oneshot":
            subprocess.run(command, env=environ, cwd=folder, check=True)
        else:
            self._spawn(unit, command, environ, folder)
        subprocess.run(_words(service["ExecStartPost"]), env=environ, cwd=folder, check=True)

    def _spawn(self, unit: str, command: list[str], environ: dict[str, str], folder: Path) -> None:
        with (self.root / f"var/log/{unit}.log").open("ab") as log:
            started = subprocess.Popen(
                command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        (self.root / f"run/{unit}.pid").write_text(str(started.pid))

    def _stop(self, unit: str) -> None:
        file = self.root / f"run/{unit}.pid"
        if not file.exists():
            return
        pid, deadline = int(file.read_text()), time.monotonic() + STOP_SECONDS
        if _is_running(pid):
            os.kill(pid, signal.SIGTERM)
        while _is_running(pid):
            assert time.monotonic() < deadline, f"{unit} does not stop"
            time.sleep(0.05)
        file.unlink()


def _words(command: str) -> list[str]:
    """A command of a unit, in which %% stands for %."""
    return shlex.split(command.replace("%%", "%"))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    getattr(Root(Path(sys.argv[1])), sys.argv[2].replace("-", "_"))(*sys.argv[3:])
