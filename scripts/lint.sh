#!/bin/sh
# Runs golangci-lint and gofumpt at pinned versions, installing them the first time. Where they
# can't be had, says so and goes on, for `go vet` has run by then; under CI (CI is set) it fails.
set -eu
. scripts/tool.sh

without() { # name: one tool less
    echo "lint: $1 is passed over" >&2
    [ -z "${CI:-}" ] || exit 1
}

if tool gofumpt mvdan.cc/gofumpt v0.9.1; then
    # shellcheck disable=SC2046
    bad=$("$TOOL" -l $(git ls-files '*.go' | grep -v '^graph/generated/'))
    [ -z "$bad" ] || { printf 'lint: gofumpt would change:\n%s\n' "$bad" >&2; exit 1; }
else
    without gofumpt
fi
if tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint v2.5.0; then
    "$TOOL" run ./...
else
    without golangci-lint
fi
