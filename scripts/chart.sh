#!/bin/sh
# Lints the chart in deploy/helm, renders its examples and looks at what comes of them, by a pinned helm that is installed the first
# time. It is much to build, so that `make verify` goes without it: the tests hold the chart's names to the program's in any case.
set -eu
. scripts/tool.sh

tool helm helm.sh/helm/v3/cmd/helm v3.22.0 || exit 1
CANOPY_TEST_HELM="$TOOL" go test -count=1 -run 'TestChart' ./cmd/canopy
