#!/usr/bin/env bash
# Official clients against otc-sim, and their signers against ours.
#   tests/interop/run.sh BUILD_DIR
# Writes BUILD_DIR/junit/interop.xml and, for post-mortems, the wire log of every
# test under BUILD_DIR/interop-logs. Clients are installed once, pinned by hash,
# under ${XDG_CACHE_HOME:-~/.cache}/otc-host/interop. A registry that refuses is a
# failure of the tests that need it, never a silent skip.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: tests/interop/run.sh BUILD_DIR}" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/otc-host/interop"

find_program() {
  local found
  for found in "$build/$1" "$build/$2/$1"; do
    if [ -x "$found" ]; then
      echo "$found"
      return
    fi
  done
  echo "interop: $1 is not built; run: ninja -C $build otc-sim otc-signer-dump" >&2
  exit 1
}
OTC_SIM=$(find_program otc-sim tests/sim/otc)
dump=$(find_program otc-signer-dump tests/interop)
for tool in python3 go; do
  command -v "$tool" > /dev/null || { echo "interop: $tool is not installed" >&2; exit 1; }
done

mkdir -p "$cache" "$build/junit" "$build/interop-logs"
rm -f "$build/junit/interop.xml"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OTC_SIM INTEROP_LOGS="$build/interop-logs" RESULTS="$work/results.jsonl"
export SIGNING_VECTORS="$root/host/cloud/testdata/signing_vectors.json"
export SIGNER_DUMP="$work/signer-dump.jsonl" PYTHONDONTWRITEBYTECODE=1
"$dump" "$SIGNING_VECTORS" > "$SIGNER_DUMP"

# report SUITE TEXT: a failure in the JUnit file.
report() {
  echo "interop: $1: $2" >&2
  python3 - "$1" "$2" >> "$RESULTS" << 'PYTHON'
import json, sys
print(json.dumps({"suite": sys.argv[1], "name": "(set-up)", "outcome": "fail", "seconds": 0,
                  "detail": sys.argv[2]}))
PYTHON
}

# The Go clients take longest to build, so they start first.
run_go() {
  export GOCACHE="$cache/go-build" GOMODCACHE="$cache/go-mod" GOFLAGS=-mod=readonly
  cd "$here/go"
  if ! go mod download > "$work/go-download" 2>&1; then
    touch "$work/go-refused"
    return
  fi
  go test -json -count=1 -timeout 300s . > "$work/go.json" 2> "$work/go.err" || true
}
run_go &
go_job=$!

# python_suite NAME: a virtual environment of its own, keyed by what is in it.
python_suite() {
  local name=$1 requirements="$here/requirements-$1.txt" key venv
  key=$({ python3 --version; cat "$requirements"; } | sha256sum | cut -c1-16)
  venv="$cache/$name-$key"
  if [ ! -e "$venv/complete" ]; then
    echo "interop: installing the Python clients of $name under $venv"
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
        --only-binary :all: -r "$requirements"; } > "$work/pip" 2>&1; then
      report "$name" "the client cannot be installed, its tests did not run: $(tail -n 5 "$work/pip")"
      return
    fi
    touch "$venv/complete"
  fi
  (cd "$here" && timeout 300 "$venv/bin/python" "${name}_tests.py") || true
}
python_suite hwpy
python_suite otcx

wait "$go_job" || true
files=("$RESULTS")
if [ -e "$work/go-refused" ]; then
  report go "the Go clients cannot be downloaded, their tests did not run: $(tail -n 5 "$work/go-download")"
else
  cat "$work/go.err" >&2
  files+=("$work/go.json")
fi
python3 "$here/junit.py" "$build/junit/interop.xml" "${files[@]}"
