#!/bin/sh
# Checks of the plugin ABI: sdk/abi/check.sh BUILD_DIR
#
# The header with every compiler and standard, the golden layouts, generated
# files, and every plugin of the build (otc-plugin-check and its exports, read by
# nm as a second opinion). Ends with a count line; exit code 1 if anything failed.
set -u
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
  echo "usage: sdk/abi/check.sh BUILD_DIR" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
sdk=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

# step NAME COMMAND…: runs it, shows its output only when it fails.
step() {
  step_name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $step_name"
  else
    failed=$((failed + 1))
    echo "FAILED  $step_name"
    sed 's/^/        /' "$work/out"
  fi
}
skip() {
  skipped=$((skipped + 1))
  echo "skipped $1: $2"
}

for compiler in gcc clang; do
  if ! command -v $compiler >/dev/null; then
    skip "header with $compiler" "not installed"
    continue
  fi
  for standard in c11 c17 c++17 c++20; do
    case $standard in
      c++*) source=header.cc language=c++ ;;
      *) source=header.c language=c ;;
    esac
    step "header with $compiler -std=$standard" $compiler -x $language -std=$standard -Wall -Wextra \
      -Wpedantic -Wpadded -Werror -fsyntax-only -I "$sdk/include" "$sdk/abi/$source"
  done
done

step "golden layouts are prefixes, generated assertions unchanged" \
  python3 -B "$sdk/abi/layout.py" --check
step "golden layout catches breaks" sh -c "cd '$sdk/abi' && python3 -B layout_test.py"
step "generated text repair unchanged" python3 -B "$sdk/abi/payload_text.py" --check
for golden in "$sdk"/abi/layout-*.txt; do
  name=$(basename "$golden")
  python3 -B "$sdk/abi/layout.py" --program "$golden" >"$work/program.c"
  step "$name as the compiler sees it" sh -c \
    "cc -std=c11 -I '$sdk/include' '$work/program.c' -o '$work/program' && '$work/program'"
done
if command -v abidiff >/dev/null && [ "$(uname -m)" = x86_64 ]; then
  python3 -B "$sdk/abi/layout.py" --anchor >"$work/anchor.c"
  step "abidiff against the released 1.0" sh -c \
    "cc -g -std=c11 -shared -fPIC -I '$sdk/include' '$work/anchor.c' -o '$work/anchor.so' &&
     abidiff '$sdk/abi/anchor-1.0.abi' '$work/anchor.so'"
else
  skip "abidiff" "abigail-tools not installed, or not x86-64"
fi

check=$build/otc-plugin-check
if [ ! -x "$check" ]; then
  echo "FAILED  $check is not built"
  failed=$((failed + 1))
fi
plugins=0
for plugin in "$build"/plugins/*.so "$build"/examples/*.so; do
  [ -e "$plugin" ] || continue
  plugins=$((plugins + 1))
  name=$(basename "$plugin")
  [ ! -x "$check" ] || step "otc-plugin-check $name" "$check" "$plugin"
  step "exports of $name" sh -c \
    "nm -D --defined-only '$plugin' | awk '{print \$3}' >'$work/exports' &&
     cat '$work/exports' && [ \"\$(cat '$work/exports')\" = otc_plugin_entry_v1 ]"
done
if [ $plugins -eq 0 ]; then
  echo "FAILED  no plugin in $build/plugins or $build/examples"
  failed=$((failed + 1))
fi

echo "abi-check: $passed passed, $failed failed, $skipped skipped ($plugins plugins)"
[ $failed -eq 0 ]
