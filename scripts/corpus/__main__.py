"""Make the corpus of exports by running the programs that write them: `python -m scripts.corpus`.

`python -m benchmarks.peers` installs the programs. Nothing but loopback is used, and all servers end with it.
"""

from __future__ import annotations

import os
import subprocess

from benchmarks.peers import ROOT, program, python
from scripts.corpus import doccano, documented, label_studio, overview


def main() -> None:
    """Write all folders; those of Argilla and datasets have scripts of their own."""
    documented.make()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([python(), "-m", "scripts.corpus.tables"], cwd=ROOT, env=environment, check=True)
    label_studio.make(program("label-studio"))
    doccano.make(program("doccano"))
    overview.README.write_text(overview.table(), "utf-8")


if __name__ == "__main__":
    main()
