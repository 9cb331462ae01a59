#!/usr/bin/env bash
# clang-format on everything, clang-tidy on changed C++ files (at most TIDY_MAX=40;
# all with TIDY=all), shell and Python files, the header alone, the layer rule.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$1
passed=0 failed=0

check() {
  local name=$1
  shift
  if out=$("$@" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'lint: %s failed\n%s\n' "$name" "$out" | head -n 60
  fi
}

mapfile -t cpp < <(git ls-files '*.cc' '*.h' '*.c' '*.proto')
check clang-format clang-format --dry-run --Werror "${cpp[@]}"

mapfile -t shell < <(git ls-files '*.sh' .ci/run)
check shellcheck shellcheck -x "${shell[@]}"

mapfile -t python < <(git ls-files '*.py')
check python /usr/bin/python3 tests/tools/pycheck.py "${python[@]}"

for standard in c11 c17; do
  check "plugin.h as $standard" gcc -std=$standard -Wall -Wextra -Wpedantic -Wpadded -Werror \
    -fsyntax-only -Isdk/include -x c sdk/include/otc/plugin.h
done
check layers /usr/bin/python3 tests/tools/layers.py "$build"

base=${LINT_BASE:-$(git rev-list -1 --before='1 day ago' HEAD 2>/dev/null || true)}
base=${base:-$(git rev-list --max-parents=0 HEAD | tail -n 1)}
if [ "${TIDY:-changed}" = all ]; then
  mapfile -t tidy < <(git ls-files 'host/*.cc' 'plugins/*.cc' 'sdk/*.cc' | grep -v -e _test.cc -e testdata)
else
  mapfile -t tidy < <(git diff --name-only --diff-filter=d "$base" -- 'host/*.cc' 'plugins/*.cc' 'sdk/*.cc' |
    grep -v -e _test.cc -e testdata)
  most=${TIDY_MAX:-40}
  if [ ${#tidy[@]} -gt "$most" ]; then
    echo "clang-tidy: ${#tidy[@]} changed files, only the first $most are looked at (TIDY=all: all)"
    tidy=("${tidy[@]:0:$most}")
  fi
fi
if [ ${#tidy[@]} -gt 0 ]; then
  echo "clang-tidy on ${#tidy[@]} files …"
  tidy_all() {
    printf '%s\n' "${tidy[@]}" |
      xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option
  }
  check clang-tidy tidy_all
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
