#!/usr/bin/env python3
"""Compiles the named Python files in memory: syntax errors only, no .pyc left."""
import sys
from pathlib import Path

for name in sys.argv[1:]:
    compile(Path(name).read_text(encoding="utf-8"), name, "exec")
