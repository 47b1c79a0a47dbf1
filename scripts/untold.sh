#!/bin/sh
# untold.sh FOLDER: builds FOLDER/canopy as `make build` does, with nothing in the place of internal/telemetry. `make bench-telemetry` measures the
# real program in turns with it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
{
	printf '{"Replace": {'
	for file in internal/telemetry/*.go; do
		[ "$file" = internal/telemetry/telemetry.go ] || printf '"%s/%s": "", ' "$PWD" "$file"
	done
	printf '"%s/internal/telemetry/telemetry.go": "%s/cmd/bench/untold/telemetry.go"}}\n' "$PWD" "$PWD"
} >"$folder/overlay.json"
CGO_ENABLED=0 go build -trimpath -overlay "$folder/overlay.json" -ldflags "${LDFLAGS:-}" -o "$folder/canopy" ./cmd/canopy
