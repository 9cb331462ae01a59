#!/usr/bin/env python3
"""Damages a good plugin file: spoil.py MODE IN OUT."""
import pathlib
import struct
import sys


def main():
    mode, source, out = sys.argv[1:]
    data = bytearray(pathlib.Path(source).read_bytes())
    if mode == "truncate":
        data = data[: len(data) // 3]
    elif mode == "header":  # ends inside the ELF header
        data = data[:40]
    elif mode == "text":
        data = bytearray(b"#!/bin/sh\necho this is no plugin\n")
    elif mode == "empty":
        data = bytearray()
    elif mode == "class32":
        data[4] = 1
    elif mode == "machine":  # e_machine: SPARC
        struct.pack_into("<H", data, 18, 2)
    elif mode == "executable":  # e_type: ET_EXEC
        struct.pack_into("<H", data, 16, 2)
    elif mode == "offsets":  # e_phoff behind every file
        struct.pack_into("<Q", data, 32, 0xFFFFFFFFFFFFFF00)
    else:
        sys.exit(f"unknown mode {mode}")
    pathlib.Path(out).write_bytes(data)


if __name__ == "__main__":
    main()
