#!/bin/sh
# untold.sh FOLDER LAYOUTS: builds FOLDER/told-N as `make build` does, and FOLDER/untold-N with nothing in the place of internal/telemetry, each
# linked in LAYOUTS orders. Prints them as pairs: `make bench-telemetry` measures these in turns.
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
build() {
	CGO_ENABLED=0 go build -trimpath -ldflags "${LDFLAGS:-} -randlayout=$layout" "$@" ./cmd/canopy
}
pairs=
for layout in $(seq "$2"); do
	build -o "$folder/told-$layout"
	build -overlay "$folder/overlay.json" -o "$folder/untold-$layout"
	pairs="$pairs${pairs:+,}$folder/told-$layout=$folder/untold-$layout"
done
echo "$pairs"
