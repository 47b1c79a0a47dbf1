package pgconn

import (
	"database/sql/driver"
	"encoding/json"
	"testing"
	"time"
)

// TestJSONIsText: what the server reads as JSON is sent as text, as all bytes are sent as they are.
func TestJSONIsText(t *testing.T) {
	v := driver.NamedValue{Value: json.RawMessage(`{"a":1}`)}
	if err := (&conn{}).CheckNamedValue(&v); err != nil || v.Value != `{"a":1}` {
		t.Errorf("%T %v, %v", v.Value, v.Value, err)
	}
}

// TestMomentsAreInUTC: the server knows no zones beyond 16 hours.
func TestMomentsAreInUTC(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 23*60*60))
	for _, given := range []any{at, &at} {
		v := driver.NamedValue{Value: given}
		if err := (&conn{}).CheckNamedValue(&v); err != nil || v.Value != at.UTC() {
			t.Errorf("%T %v, %v", v.Value, v.Value, err)
		}
	}
}
