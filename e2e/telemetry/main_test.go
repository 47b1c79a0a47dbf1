package telemetry

import (
	"testing"

	"canopy/e2e/platform"
)

func TestMain(m *testing.M) { platform.Main(m) }

type object = map[string]any
