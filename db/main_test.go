package db_test

import (
	"testing"

	"canopy/internal/devstack/devtest"
)

func TestMain(m *testing.M) { devtest.Main(m) }
