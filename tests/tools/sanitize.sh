#!/usr/bin/env bash
# Unit and integration tests under ASan + UBSan, then under TSan.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=0:second_deadlock_stack=1
status=0
for preset in asan tsan; do
  echo "=== $preset"
  [ -e build/$preset/build.ninja ] || cmake --preset $preset >/dev/null || exit 1
  ninja -C build/$preset || exit 1
  rm -rf build/$preset/junit build/$preset/pytest && mkdir -p build/$preset/pytest
  (cd build/$preset && ctest --output-on-failure -j"$(nproc)" --no-tests=error) || status=1
  /usr/bin/python3 tests/tools/summary.py build/$preset/junit || status=1
done
exit $status
