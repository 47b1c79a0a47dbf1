#!/bin/sh
# Runs golangci-lint and gofumpt at pinned versions, installing them the first time. Where they
# can't be had, says so and goes on: `go vet` has run by then.
set -eu

LINT=v2.5.0
FUMPT=v0.9.1
bin="$(pwd)/.cache/bin"
mkdir -p "$bin"

get() { # name module version
    [ -x "$bin/$1-$3" ] && return 0
    GOFLAGS=-mod=mod GOBIN="$bin" go install "$2@$3" >"$bin/$1.log" 2>&1 && mv "$bin/$1" "$bin/$1-$3" && return 0
    echo "lint: $1 $3 can't be installed here; it is passed over: $(tail -n 1 "$bin/$1.log")" >&2
    return 1
}

files=$(git ls-files '*.go' | grep -v '^graph/generated/')
if get gofumpt mvdan.cc/gofumpt $FUMPT; then
    # shellcheck disable=SC2086
    bad=$("$bin/gofumpt-$FUMPT" -l $files)
    [ -z "$bad" ] || { printf 'lint: gofumpt would change:\n%s\n' "$bad" >&2; exit 1; }
fi
if get golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $LINT; then
    "$bin/golangci-lint-$LINT" run ./...
fi
