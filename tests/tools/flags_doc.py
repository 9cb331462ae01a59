#!/usr/bin/env python3
"""Writes docs/reference/flags.md from `otc-host --help`; $1 is the build folder."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Flags

Made by `tests/tools/flags_doc.py` from `otc-host --help`; a test compares the two. Names and defaults are those of k8s.io/cloud-provider where it has them. Exit codes: 0 asked to end, 1 cannot start or the Lease was lost, 2 flags or files are wrong (all errors are printed, a line each), 3 a required plugin cannot run.

```text
"""


def main():
    text = subprocess.run([f"{sys.argv[1]}/otc-host", "--help"], check=True, capture_output=True,
                          text=True).stdout
    (ROOT / "docs/reference/flags.md").write_text(HEAD + text + "```\n", encoding="utf-8")


if __name__ == "__main__":
    main()
