package agents

import (
	"net/http"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/diagram"
)

// TestDeletedSecretsComeBack: with their value, under their name or, where it was given again, under another one, at both doors, where they
// were deleted as restorable ones and as long as their time is not over. Meanwhile no run reads them; then nothing of them is left.
func TestDeletedSecretsComeBack(t *testing.T) {
	t.Parallel()
	p := newParrot(t)
	s := platform.Start(t, platform.DeliverLocally(t), p.use)
	s.NoDemoMails()
	s.Work(nil)
	builder := s.RootAs("builder")
	agent := s.Publish(builder, `{"steps":[{"id":"a","type":"chat","prompt":"{{ secrets.CRM }}"}],"output":{}}`)
	says := func(want string) {
		t.Helper()
		before := len(p.hear(""))
		a := s.Poll(builder, s.Start(builder, agent, object{}))
		if want == "" {
			if a.Status != http.StatusBadRequest || platform.Member(t, a.JSON(t), "errorData.code") != diagram.CodeSecret {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			return
		}
		if told := p.hear(""); a.Status != http.StatusOK || told[before] != want {
			t.Errorf("%d %s; the model was told %q", a.Status, a.Body, told[before:])
		}
	}
	count := func() int64 {
		return s.Number(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE name = 'secrets' AND customer_id = (SELECT id FROM customers WHERE parent_id IS NULL)`)
	}
	made := s.Must(http.StatusCreated, "POST", "/v1/secrets", builder, object{"name": "CRM", "value": "hush-hush"})
	id := made.ID(t, "id")
	at := "/v1/secrets/" + platform.Decimal(id)
	before, counted := s.Must(http.StatusOK, "GET", at, builder, nil), count()
	version := s.Number(`SELECT row_version FROM secrets WHERE id = $1`, id)
	says("hush-hush")

	s.Mutate(builder, "deleteSecret", "deletedId", object{"id": id, "restorable": true})
	says("")
	s.Must(http.StatusNotFound, "GET", at, builder, nil)
	s.Must(http.StatusNotFound, "PUT", at, builder, object{"value": "x"})
	s.Must(http.StatusNotFound, "DELETE", at, builder, nil)
	if n := count(); n != counted-1 {
		t.Errorf("%d secrets are counted, %d before", n, counted)
	}
	list := s.Must(http.StatusOK, "GET", "/v1/secrets/deleted", builder, nil).JSON(t)
	if platform.Member(t, list, "#") != 1 || platform.Member(t, list, "0.name") != "CRM" || platform.Member(t, list, "0.id") != float64(id) {
		t.Errorf("deleted: %v", list)
	}
	s.Must(http.StatusOK, "POST", at+"/restore", builder, nil)
	says("hush-hush")
	if after := s.Must(http.StatusOK, "GET", at, builder, nil); string(after.Body) != string(before.Body) || after.Header.Get("ETag") != before.Header.Get("ETag") {
		t.Errorf("before %s, brought back %s", before.Body, after.Body)
	}
	s.Must(http.StatusNotFound, "POST", at+"/restore", builder, nil)

	// The name is given again meanwhile: it stays with whom it was given to.
	s.Must(http.StatusNoContent, "DELETE", at+"?restorable=true", builder, nil)
	s.Must(http.StatusCreated, "POST", "/v1/secrets", builder, object{"name": "CRM", "value": "another"})
	says("another")
	if a := s.Do(http.MethodPost, at+"/restore", builder, nil); a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), "name of another secret") {
		t.Errorf("a taken name: %d %s", a.Status, a.Body)
	}
	s.Must(http.StatusBadRequest, "POST", at+"/restore", builder, object{"name": "a.b"})
	back := s.Mutate(builder, "restoreSecret", "secret { name version }", object{"id": id, "name": "OLD_CRM"})
	if platform.Member(t, back, "secret.name") != "OLD_CRM" || platform.Member(t, back, "secret.version") != float64(version+1) {
		t.Errorf("brought back as %v", back)
	}
	says("another")

	// No more than the company may have, or keep.
	s.Must(http.StatusNoContent, "DELETE", at+"?restorable=true", builder, nil)
	s.SQL(`INSERT INTO customer_limits (customer_id, name, most) SELECT id, 'secrets', $1 FROM customers WHERE parent_id IS NULL`, count())
	if a := s.Do(http.MethodPost, at+"/restore", builder, nil); a.Status != http.StatusForbidden || !strings.Contains(string(a.Body), "limit_reached") {
		t.Errorf("one too many: %d %s", a.Status, a.Body)
	}
	s.SQL(`DELETE FROM customer_limits`)
	s.SQL(`INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
		SELECT 1000 + n, customer_id, 'N', '', now(), now(), 1, erase_at FROM removed_secrets, generate_series(1, 199) n`)
	other := "/v1/secrets/" + platform.Decimal(s.Must(http.StatusCreated, "POST", "/v1/secrets", builder, object{"name": "MORE", "value": "x"}).ID(t, "id"))
	if a := s.Do(http.MethodDelete, other+"?restorable=true", builder, nil); a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), "too_many_secrets") {
		t.Errorf("kept too many: %d %s", a.Status, a.Body)
	}
	s.Must(http.StatusNoContent, "DELETE", other, builder, nil)

	s.SQL(`UPDATE removed_secrets SET erase_at = now()`)
	s.Must(http.StatusNotFound, "POST", at+"/restore", builder, nil)
	if n, err := s.App.Store.EraseSecrets(t.Context(), 500); err != nil || n != 200 {
		t.Errorf("erased: %d, %v", n, err)
	}
	var audited string
	s.Look(&audited, `SELECT string_agg(details::text, '') FROM audit_events WHERE action = 'secret.restored'`)
	if !strings.Contains(audited, `"value": {"new": "changed"}`) || !strings.Contains(audited, "OLD_CRM") || strings.Contains(audited, "hush") {
		t.Errorf("the log tells %s", audited)
	}
}
