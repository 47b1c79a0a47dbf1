package pgconn

import (
	"database/sql/driver"
	"encoding/json"
	"testing"
)

// TestJSONIsText: what the server reads as JSON is sent as text, as all bytes are sent as they are.
func TestJSONIsText(t *testing.T) {
	v := driver.NamedValue{Value: json.RawMessage(`{"a":1}`)}
	if err := (&conn{}).CheckNamedValue(&v); err != nil || v.Value != `{"a":1}` {
		t.Errorf("%T %v, %v", v.Value, v.Value, err)
	}
}
