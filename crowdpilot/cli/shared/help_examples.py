"""Examples at the end of the help of a command."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """The end of a help text: commands that can be run as they are, given such files."""
    return "**Examples**:\n\n" + "\n".join(f"* `crowdpilot {line}`" for line in lines)
