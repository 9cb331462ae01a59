#!/usr/bin/env bash
# Builds every fuzz target with clang and runs each for FUZZ_SECONDS, starting
# from the corpus of the tree. New inputs go to the build folder; a crash leaves
# its input there and fails the run.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
seconds=${FUZZ_SECONDS:-20}
[ -e build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null || exit 1
ninja -C build/fuzz fuzzers || exit 1
passed=0 failed=0
for source in tests/fuzz/*_fuzz.cc; do
  target=$(basename "$source" .cc)
  name=${target%_fuzz}
  work=build/fuzz/corpus/$name
  mkdir -p "$work" build/fuzz/crashes
  if [ ! -d "tests/fuzz/corpus/$name" ]; then
    echo "$target: no corpus in the tree"
    failed=$((failed + 1))
    continue
  fi
  if build/fuzz/tests/fuzz/"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/crashes/$name-" "$work" \
    "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log")
    echo "$target: clean after $runs runs"
    passed=$((passed + 1))
  else
    tail -n 40 "build/fuzz/$name.log"
    echo "$target: FAILED"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
