"""Keyboard: single keys at a terminal, without Enter; lines where there is none, as in a pipe."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

END_OF_INPUT = "\x04"  # what Ctrl-D types
ESCAPE = "\x1b"
BYTES_PER_READ = 64

ReadKey = Callable[[], str]  # waits for a key, or a line without its end; END_OF_INPUT if no more can come


@contextmanager
def open_keyboard(*, single_keys: bool) -> Iterator[ReadKey]:
    """How keys are read until the end of the block; the terminal is then as it was before."""
    if not single_keys or not sys.stdin.isatty():
        yield _read_line
    elif sys.platform == "win32":
        yield _read_windows_key
    else:
        import termios
        import tty

        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)
        try:
            tty.setcbreak(fd)  # Ctrl-C still interrupts
            yield _key_reader(fd)
        finally:
            termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _read_line() -> str:
    line = sys.stdin.readline()
    return line.strip() if line else END_OF_INPUT


def _key_reader(fd: int) -> ReadKey:
    """Keys in the order in which they were pressed; arrows and the like are one key without a meaning."""
    decoder = codecs.getincrementaldecoder(sys.stdin.encoding or "utf-8")("replace")
    pressed: list[str] = []

    def read_key() -> str:
        while not pressed:
            piece = os.read(fd, BYTES_PER_READ)
            if not piece:
                return END_OF_INPUT
            text = decoder.decode(piece)
            pressed.extend([text] if text.startswith(ESCAPE) else text)
        return pressed.pop(0)

    return read_key


def _read_windows_key() -> str:
    import msvcrt

    key = msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]  # on Windows only
    if key == "\x03":
        raise KeyboardInterrupt
    return ESCAPE + str(msvcrt.getwch()) if key in ("\0", "\xe0") else str(key)  # type: ignore[attr-defined,unused-ignore]
