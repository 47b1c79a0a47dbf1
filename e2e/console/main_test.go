package console

import (
	"testing"

	"canopy/e2e/platform"
)

func TestMain(m *testing.M) { platform.Main(m) }
