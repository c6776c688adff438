"""Sounds and pictures for tests, made here."""

from __future__ import annotations

import io
import math
import struct
import wave

from PIL import Image


def wav(seconds: float = 0.2, hertz: float = 440.0, rate: int = 8000) -> bytes:
    """A tone of one pitch."""
    samples = [int(8000 * math.sin(2 * math.pi * hertz * n / rate)) for n in range(int(seconds * rate))]
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return file.getvalue()


def png(width: int, height: int, color: tuple[int, int, int] = (40, 120, 90)) -> bytes:
    """A picture of one color."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), color).save(file, "PNG")
    return file.getvalue()
