package webhooks

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestHostileAnswers: what a receiver answers is a stranger's text. It is logged as far as it can be,
// and never keeps the outcomes of others from being written down.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	healthy := platform.NewReceiver(t, nil)
	hostile := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\x00nul \xff\xfe " + strings.Repeat("\x00", 5000)))
	}))
	t.Cleanup(hostile.Close)
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	good, _ := s.Subscribe(token, healthy.URL)
	bad, _ := s.Subscribe(token, hostile.URL)
	send := func(to int64) int64 {
		t.Helper()
		return int64(s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(to)+"/test", token, object{"type": "run.failed"}).JSON(t).(map[string]any)["deliveryId"].(float64))
	}
	var others []int64
	first := send(bad)
	for range 3 {
		others = append(others, send(good))
	}
	for _, id := range append(others, first) {
		d := s.Ended(token, id)
		log := d["attemptLog"].([]any)
		if d["status"] != "delivered" || len(log) != 1 {
			t.Errorf("%v", d)
		}
		if text, _ := platform.Member(t, log[0], "response").(string); id == first && !strings.HasPrefix(text, "ok\uFFFDnul \uFFFD") {
			t.Errorf("logged is %.40q", text)
		}
	}
	if n := len(healthy.All()); n != 3 {
		t.Errorf("%d requests for 3 events", n)
	}
}
