package contexts

import (
	"fmt"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestDocumentsComeBackToAnotherModel: a document that was deleted under another model is processed anew when it comes back, and is found.
func TestDocumentsComeBackToAnotherModel(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Tides")
	s.Upload(token, id, "high.txt", []byte("The tide is high."))
	document := int64(s.Settle(token, id)[0]["id"].(float64))
	for _, model := range []string{"canopy-lexical-1", "canopy-lexical-2", staticModel} {
		s.Mutate(token, "deleteDocument", "deletedId", object{"id": document, "restorable": true})
		s.Must(200, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", id), token, object{"embeddingModel": model})
		s.Must(200, "POST", fmt.Sprintf("/v1/documents/%d/restore", document), token, nil)
		if d := s.Settle(token, id)[0]; d["status"] != "ready" || len(s.Search(token, id, "tide")) != 1 {
			t.Errorf("under %s it is %v, and found %d times", model, d["status"], len(s.Search(token, id, "tide")))
		}
	}
}

// TestDeletedDocumentsLeaveTheirWorker: one that is deleted while it is processed leaves nothing in the context that it has left.
func TestDeletedDocumentsLeaveTheirWorker(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	model.Pause = 2 * time.Second
	s := platform.Start(t, model.Use)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Tides")
	s.Upload(token, id, "high.txt", []byte("The tide is high."))
	document := int64(s.Documents(token, id)[0]["id"].(float64))
	devtest.Eventually(t, "it is processed", func() bool { return s.Number(`SELECT count(*) FROM documents WHERE status = 'processing'`) == 1 })
	s.Mutate(token, "deleteDocument", "deletedId", object{"id": document, "restorable": true})
	s.Must(200, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", id), token, object{"embeddingModel": staticModel})
	time.Sleep(2 * model.Pause) // the worker hears that the document is no longer its own
	s.Upload(token, id, "other.txt", []byte("Something quite different about lifts."))
	if d := s.Settle(token, id)[0]; d["status"] != "ready" {
		t.Errorf("the next document is %v: %v", d["status"], d["error"])
	}
	if n := s.Number(`SELECT count(*) FROM documents WHERE id = $1 AND status = 'pending'`, document); n != 1 {
		t.Error("the deleted document is not left as it was")
	}
}
