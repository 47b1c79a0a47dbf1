#!/bin/sh
# Builds the console: console/dist, which is committed, so that the platform needs Go alone.
#   scripts/console.sh          installs what package-lock.json names, and builds
#   scripts/console.sh types    writes the types of the documents, for an editor and for the server of development
#   scripts/console.sh tests    builds, and makes what Node.js runs of the tests
#   scripts/console.sh check    fails where a build gives something else than what is committed; where nothing can be built, under CI only
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = check ] && [ -z "${CI:-}" ] && ! npm ping >/dev/null 2>&1; then
    echo "console: the check of console/dist is passed over: there is no npm, or no registry" >&2
    exit 0
fi

if ! node -e '[major, minor] = process.versions.node.split("."); process.exit(major > 20 || major == 20 && minor >= 19 ? 0 : 1)'; then
    echo "console: Node.js 20.19 or newer is needed, with npm" >&2
    exit 1
fi
# What npm has installed of a lock file is not installed again: that takes longer than to build.
installed() {
    [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --loglevel error
}
client=clients/typescript
(cd $client && installed && npm run --silent build)
cd console
installed
node ../$client/dist/tools/main.js src/*/*.graphql
[ "${1:-}" = types ] && exit 0
npm run --silent build
[ "${1:-}" != tests ] || npx tsc -p test
if [ "${1:-}" = check ] && [ -n "$(git status --porcelain -- dist)" ]; then
    git --no-pager diff --stat -- dist >&2
    echo "console/dist is stale: run make console, and commit it" >&2
    exit 1
fi
