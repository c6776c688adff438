"""Print the bill of materials of the service (CycloneDX 1.6): `python scripts/sbom.py locks/service.txt`.

Names, versions, digests and the graph are those of a lock file, so that the same files give the same bytes.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(\[\S+\])?==(?P<version>\S+)[^\n]*\n(?P<rest>([ ]+[^\n]*\n?)*)", re.MULTILINE
)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
PARENT = re.compile(  # in the comments: "# via fastapi", or "# via" and a line for each
    r"#\s+(?:via )?(?!via$)([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[\S+\])?(?: \(pyproject\.toml\))?$", re.MULTILINE
)


def bill(lock: str, name: str, version: str, license: str) -> dict[str, Any]:
    """The bill of materials of a program whose dependencies are in a lock file of `uv pip compile`."""
    found = list(ENTRY.finditer(lock))
    refs = {entry["name"]: f"pkg:pypi/{entry['name']}@{entry['version']}" for entry in found}
    root = f"pkg:pypi/{name}@{version}"
    needs: dict[str, list[str]] = {ref: [] for ref in (root, *refs.values())}
    for entry in found:
        for parent in PARENT.findall(entry["rest"]):
            if ref := root if parent == name else refs.get(parent):
                needs[ref].append(refs[entry["name"]])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": root, "name": name, "version": version, "purl": root,
                "licenses": [{"license": {"id": license}}],
            },
        },
        "components": [_component(entry, refs[entry["name"]]) for entry in found],
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(to))} for ref, to in sorted(needs.items())],
    }  # fmt: skip


def _component(entry: re.Match[str], ref: str) -> dict[str, Any]:
    digests = [{"alg": "SHA-256", "content": digest} for digest in HASH.findall(entry["rest"])]
    files = {"type": "distribution", "url": f"https://pypi.org/project/{entry['name']}/{entry['version']}/"}
    return {
        "type": "library", "bom-ref": ref, "name": entry["name"], "version": entry["version"], "purl": ref,
        "externalReferences": [{**files, "hashes": digests}],
    }  # fmt: skip


def main(lock: str) -> None:
    """Print the bill of the service with the versions of a lock file."""
    version = runpy.run_path(str(HOME / "scripts" / "notes.py"))["current"]()
    print(json.dumps(bill(Path(lock).read_text(), "crowdpilot", version, "BSD-3-Clause"), indent=2))


if __name__ == "__main__":
    main(sys.argv[1])
