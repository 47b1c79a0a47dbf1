package contexts

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// keeping is a platform with a context, whose originals can be taken away.
type keeping struct {
	*platform.Platform
	token   string
	context int64
}

func startKeeping(t *testing.T, model *platform.ModelServer) *keeping {
	t.Helper()
	k := &keeping{}
	if model == nil {
		k.Platform = platform.Start(t)
	} else {
		k.Platform = platform.Start(t, model.Use)
	}
	k.token = k.Assistant()
	k.context = k.NewContext(k.token, "Kept")
	return k
}

func idOf(d object) int64 { return int64(d["id"].(float64)) }

// original is where the file of a document is.
func (k *keeping) original(d object) (path string) {
	k.T.Helper()
	err := filepath.WalkDir(strings.TrimPrefix(k.App.Config.BlobURL, "file://"), func(at string, _ fs.DirEntry, err error) error {
		if filepath.Base(at) == d["fileName"] {
			path = at
		}
		return err
	})
	if err != nil || path == "" {
		k.T.Fatal(err, d)
	}
	return path
}

// away takes the original of a document away, until the end of what it gives is called.
func (k *keeping) away(d object) (back func()) {
	k.T.Helper()
	path := k.original(d)
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			k.T.Fatal(err)
		}
	}
	move(path, path+".away")
	return func() { move(path+".away", path) }
}

// anew has a document processed anew, after settings were changed, and gives what comes of it. All that is counted is so then.
func (k *keeping) anew(d object, settings object) object {
	k.T.Helper()
	if settings != nil {
		settings["id"] = k.context
		k.Mutate(k.token, "updateContext", "context { id }", settings)
	}
	k.Mutate(k.token, "reprocessDocument", "document { id }", object{"id": platform.Decimal(idOf(d))})
	k.Settle(k.token, k.context)
	k.TrueTree()
	return k.Must(200, "GET", fmt.Sprintf("/context/document/%d", idOf(d)), k.token, nil).JSON(k.T).(object)
}

// stored counts the chunks that there are of a document, whatever its state.
func (k *keeping) stored(d object) int64 {
	k.T.Helper()
	return k.Number(`SELECT count(*) FROM chunks WHERE document_id = $1`, idOf(d))
}

// stays holds a document against what it was before: it is found, and its warnings end with why it is what it was.
func (k *keeping) stays(before, now object, prompt, why string) {
	k.T.Helper()
	list, _ := now["warnings"].([]any)
	had, _ := before["warnings"].([]any)
	if now["status"] != "ready" || now["error"] != nil || now["chunks"] != before["chunks"] || float64(k.stored(now)) != before["chunks"] || len(list) != len(had)+1 {
		k.T.Fatalf("%d chunks, %v, and not as it was: %v", k.stored(now), now, before)
	}
	if w := fmt.Sprint(list[len(list)-1]); !strings.Contains(w, "code:not_reprocessed") || !strings.Contains(w, why) {
		k.T.Errorf("%s", w)
	}
	if n := len(k.Search(k.token, k.context, prompt)); n == 0 {
		k.T.Errorf("nothing is found of %v", now)
	}
}

const originalMissing = "The original file is missing"

// TestAMissingOriginalTakesNoText: a document whose original is not there stays what it was when it is processed anew, alone or with its context, by another chunk size
// and another reader; and is processed once the original is back.
func TestAMissingOriginalTakesNoText(t *testing.T) {
	t.Parallel()
	k := startKeeping(t, nil)
	k.Work(nil)
	text := []byte(platform.Sentences(1, 900))
	k.Upload(k.token, k.context, "a.txt", text)
	k.Upload(k.token, k.context, "scan.pdf", pdfWith("first words", "", "last words"))
	list := k.Settle(k.token, k.context)
	d, scan := list[0], list[1]
	back, alsoBack := k.away(d), k.away(scan)

	k.stays(d, k.anew(d, nil), "honey", originalMissing)
	k.stays(d, k.anew(d, object{"chunkSize": 64, "overlap": 0}), "honey", originalMissing)
	k.SQL(`UPDATE documents SET reader = reader + 1000`)
	k.Mutate(k.token, "reprocessContext", "context { id }", object{"id": k.context})
	list = k.Settle(k.token, k.context)
	k.stays(d, list[0], "honey", originalMissing)
	k.stays(scan, list[1], "words", originalMissing)
	if first := fmt.Sprint(list[1]["warnings"]); !strings.HasPrefix(first, "[map[code:no_text message:page 2 has no text page:2]") {
		t.Error(first)
	}
	if n := k.Number(`SELECT count(*) FROM vector_blocks b JOIN documents d ON d.id = b.document_id WHERE b.revision <> d.revision`); n != 0 || k.Text(idOf(d)) != string(text) {
		t.Errorf("%d blocks are not of the revision that is found", n)
	}

	// What is uploaded meanwhile takes over nothing that was made with other settings.
	copied := k.Upload(k.token, k.context, "b.txt", text)
	if copied.Status != 200 {
		t.Fatalf("%s", copied.Body)
	}
	b := k.Settle(k.token, k.context)[2]
	if b["status"] != "ready" || b["chunks"].(float64) < 10 || fmt.Sprint(b["warnings"]) != "[]" {
		t.Errorf("%v", b)
	}

	back()
	alsoBack()
	now := k.anew(d, nil)
	if now["status"] != "ready" || now["chunks"] != b["chunks"] || float64(k.stored(now)) != b["chunks"] || fmt.Sprint(now["warnings"]) != "[]" || k.Text(idOf(d)) != string(text) {
		t.Errorf("%d chunks, %v", k.stored(now), now)
	}
}

// TestAnotherModelNeedsTheOriginal: what was embedded by another model is not found, and kept until the original is back. What is embedded by the same model stays.
func TestAnotherModelNeedsTheOriginal(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	k := startKeeping(t, model)
	k.Work(nil)
	k.Upload(k.token, k.context, "a.txt", []byte("bees make honey"))
	d := k.Settle(k.token, k.context)[0]
	back := k.away(d)
	k.stays(d, k.anew(d, object{"chunkSize": 64}), "hhh", originalMissing)
	if n := model.Embedded(); n != 2 { // the chunk, and the prompt
		t.Errorf("%d texts were embedded", n)
	}

	k.Mutate(k.token, "updateContext", "context { id }", object{"id": k.context, "embeddingModel": "canopy-lexical-2"})
	k.Settle(k.token, k.context)
	for range 2 {
		now := k.anew(d, nil)
		if now["status"] != "failed" || !strings.Contains(fmt.Sprint(now["error"]), originalMissing) || fmt.Sprint(now["warnings"]) != "[]" || k.stored(now) != 1 || now["chunks"] != 1.0 {
			t.Fatalf("%d chunks, %v", k.stored(now), now)
		}
		if hits := k.Search(k.token, k.context, "bees make honey"); len(hits) != 0 {
			t.Errorf("%v", hits)
		}
	}
	back()
	if now := k.anew(d, nil); now["status"] != "ready" || k.stored(now) != 1 || len(k.Search(k.token, k.context, "honey")) != 1 || k.Number(`SELECT count(*) FROM vector_blocks WHERE dense`) != 0 {
		t.Errorf("%d chunks, %v", k.stored(now), now)
	}

	// Vectors of another length than those of the context are not compared.
	k.Mutate(k.token, "updateContext", "context { id }", object{"id": k.context, "embeddingModel": "letters-1"})
	k.Settle(k.token, k.context)
	back = k.away(d)
	k.SQL(`UPDATE contexts SET dimensions = 27`)
	if now := k.anew(d, nil); now["status"] != "failed" || k.stored(now) != 1 {
		t.Errorf("%d chunks, %v", k.stored(now), now)
	}
	k.SQL(`UPDATE contexts SET dimensions = 0`) // as from the change of a model on to the first document that is ready
	k.stays(object{"chunks": 1.0}, k.anew(d, nil), "hhh", originalMissing)
	back()
}

// TestWhatCantBeReadAnewStays: whatever a document that was ready fails of when it is processed anew, it stays what it was. One that was never ready fails, as does one of
// which an earlier release has dropped something.
func TestWhatCantBeReadAnewStays(t *testing.T) {
	t.Parallel()
	k := startKeeping(t, nil)
	stop := k.Work(nil)
	k.Upload(k.token, k.context, "a.pdf", pdfWith("some words of bees and honey", strings.Repeat("and more of ships in a harbour ", 30)))
	d := k.Settle(k.token, k.context)[0]
	reader := k.Number(`SELECT reader FROM documents`)
	good, err := os.ReadFile(k.original(d))
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) {
		if err := os.WriteFile(k.original(d), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte("no PDF"))
	k.stays(d, k.anew(d, nil), "honey", "The file is damaged.")
	write(pdfWith("", ""))
	k.stays(d, k.anew(d, nil), "honey", "no text")
	write(good)

	// The limit of chunks, which a twin's are held against when the document is about to be ready.
	other := k.NewContext(k.token, "Smaller")
	k.Mutate(k.token, "updateContext", "context { id }", object{"id": other, "chunkSize": 64, "overlap": 0})
	k.Upload(k.token, other, "twin.pdf", good)
	if twin := k.Settle(k.token, other)[0]; twin["chunks"].(float64) <= d["chunks"].(float64) {
		t.Fatalf("%v", twin)
	}
	k.SQL(`INSERT INTO customer_limits (customer_id, name, most) SELECT a.customer_id, 'chunks', 1 FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.id = $1`, k.context)
	k.stays(d, k.anew(d, object{"chunkSize": 64, "overlap": 0}), "honey", "limit chunks")
	k.SQL(`DELETE FROM customer_limits`)
	k.Mutate(k.token, "deleteContext", "deletedId", object{"id": platform.Decimal(other)}) // of the twin that needs no original

	// A worker that ended when it had all chunks, and the one before had begun to go.
	stop()
	back := k.away(d)
	again := func() {
		k.Mutate(k.token, "reprocessDocument", "document { id }", object{"id": platform.Decimal(idOf(d))})
	}
	again()
	k.SQL(`UPDATE chunks SET revision = revision + 1 WHERE document_id = $1`, idOf(d))
	k.SQL(`UPDATE vector_blocks SET revision = revision + 1 WHERE document_id = $1`, idOf(d))
	k.SQL(`UPDATE documents SET packed = -revision, reader = $2 WHERE id = $1`, idOf(d), reader)
	stop = k.Work(nil)
	k.stays(d, k.Settle(k.token, k.context)[0], "honey", originalMissing)

	// What an earlier release has begun to drop.
	stop()
	again()
	k.SQL(`DELETE FROM chunks WHERE document_id = $1 AND position = 0`, idOf(d))
	k.Upload(k.token, k.context, "new.txt", []byte("never read"))
	k.away(k.Documents(k.token, k.context)[1])
	k.Work(nil)
	for _, now := range k.Settle(k.token, k.context) {
		if now["status"] != "failed" || now["chunks"] != 0.0 || k.stored(now) != 0 || !strings.Contains(fmt.Sprint(now["error"]), originalMissing) {
			t.Errorf("%d chunks, %v", k.stored(now), now)
		}
	}
	k.TrueTree()
	back()
	if now := k.anew(d, nil); now["status"] != "ready" || float64(k.stored(now)) != now["chunks"] || len(k.Search(k.token, k.context, "honey")) == 0 {
		t.Errorf("%v", now)
	}
}
