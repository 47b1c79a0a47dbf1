package main

import (
	"net"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestNothingBeginsWithoutItsAddress: where a worker's metrics can't be had, nothing is opened, and the call is wrong.
func TestNothingBeginsWithoutItsAddress(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	devtest.Check(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	s := platform.Start(t)
	for _, address := range []string{"nonsense", "localhost", ":x", "127.0.0.1:99999", taken.Addr().String()} {
		code, out, fault := operate(t, s, []string{"REDIS_URL=" + s.App.Config.RedisURL}, "worker", "--metrics", address)
		if code != exitUsage || out != "" || !strings.HasPrefix(fault, "canopy worker: --metrics: ") || strings.Contains(fault, `"msg"`) {
			t.Errorf("%s: %d %s%s", address, code, out, fault)
		}
	}
}
