#!/bin/sh
# Lints the chart in deploy/helm, renders its examples and looks at what comes of them, by a pinned helm that is installed the first
# time. Where it can't be had, says so and goes on; under CI (CI is set) it fails.
set -eu
. scripts/tool.sh

if tool helm helm.sh/helm/v3/cmd/helm v3.22.0; then
    CANOPY_TEST_HELM="$TOOL" go test -count=1 -run 'TestChart' ./cmd/canopy
else
    echo "chart: deploy/helm is not rendered" >&2
    [ -z "${CI:-}" ] || exit 1
fi
