package contexts

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/models/lexical"
)

// blocksPlatform has a context of two documents, one of which needs several blocks of vectors.
func blocksPlatform(t *testing.T) (s *platform.Platform, model *platform.ModelServer, token string, id int64) {
	t.Helper()
	model = platform.NewModelServer(t)
	s = platform.Start(t, model.Use)
	s.Work(nil)
	token = s.Assistant()
	id = s.NewContext(token, "Blocks")
	s.SQL(`UPDATE contexts SET chunk_size = 20 WHERE id = $1`, id)
	s.Upload(token, id, "long.txt", []byte(platform.Sentences(1, 24_000)))
	s.Upload(token, id, "short.txt", []byte(platform.Sentences(2, 30)))
	s.Settle(token, id)
	if n := s.Number(`SELECT count(*) FROM vector_blocks WHERE NOT dense`); n < 3 {
		t.Fatalf("%d blocks of words", n)
	}
	return s, model, token, id
}

// found are the hits of some searches in all modes, by what they say and how much it is like the prompt.
func found(s *platform.Platform, token string, id int64) (list []any) {
	s.T.Helper()
	for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
		for _, prompt := range []string{"honey of the hive", "captain and harbour", "zzz"} {
			list = append(list, s.MustGQL(token, fmt.Sprintf(
				`{ searchContext(contextId: %d, prompt: %q, mode: %s, topN: 20) { similarity content document { originalName } } }`, id, prompt, mode), nil)["searchContext"])
		}
	}
	return list
}

// TestOldVectorsArePacked: vectors that an earlier release has stored beside their chunks are found there, and are put
// into blocks by two workers at the same time; no search tells the difference.
func TestOldVectorsArePacked(t *testing.T) {
	t.Parallel()
	s, model, token, id := blocksPlatform(t)
	want := found(s, token, id)
	unpack(t, s, model)
	s.SQL(`UPDATE contexts SET version = version + 1`)
	if n := s.Number(`SELECT count(*) FROM vector_blocks`); n != 0 {
		t.Fatalf("%d blocks", n)
	}
	if got := found(s, token, id); !reflect.DeepEqual(got, want) {
		t.Errorf("beside the chunks other vectors are found:\n%v\n%v", got, want)
	}
	s.Work(nil)
	s.Work(nil)
	for end := time.Now().Add(30 * time.Second); s.Number(`SELECT count(*) FROM documents WHERE packed <> revision`) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the documents are not packed")
		}
	}
	// What is read anew is the same, and comes from the blocks.
	s.SQL(`UPDATE chunks SET sparse = NULL, dense = NULL`)
	s.SQL(`UPDATE contexts SET version = version + 1`)
	s.SQL(`UPDATE documents SET revision = revision + 1, packed = packed + 1`)
	s.SQL(`UPDATE chunks SET revision = revision + 1`)
	s.SQL(`UPDATE vector_blocks SET revision = revision + 1`)
	if got := found(s, token, id); !reflect.DeepEqual(got, want) {
		t.Errorf("in blocks other vectors are found:\n%v\n%v", got, want)
	}
}

// unpack stores the vectors of all chunks as an earlier release has, under another revision, so that no index in memory
// has them.
func unpack(t *testing.T, s *platform.Platform, model *platform.ModelServer) {
	t.Helper()
	s.SQL(`DELETE FROM vector_blocks`)
	rows, err := s.DB.Query(`SELECT id, content FROM chunks`)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[int64]string{}
	for rows.Next() {
		var id int64
		var content string
		if err := rows.Scan(&id, &content); err != nil {
			t.Fatal(err)
		}
		contents[id] = content
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for id, content := range contents {
		sparse, err := lexical.Embed(content).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		s.SQL(`UPDATE chunks SET revision = revision + 1, sparse = $2, dense = $3 WHERE id = $1`, id, sparse, littleEndian(model.Vector(content)))
	}
	s.SQL(`UPDATE documents SET revision = revision + 1, packed = 0`)
}

// littleEndian is a vector as it stands beside a chunk.
func littleEndian(v []float32) (b []byte) {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// TestATwinHasItsOwnBlocks: a document of the same bytes as another takes over its vectors, as those of its own chunks,
// and keeps them when the other goes.
func TestATwinHasItsOwnBlocks(t *testing.T) {
	t.Parallel()
	s, _, token, first := blocksPlatform(t)
	want := found(s, token, first)
	second := s.NewContext(token, "Twins")
	s.SQL(`UPDATE contexts SET chunk_size = 20 WHERE id = $1`, second)
	s.Upload(token, second, "long.txt", []byte(platform.Sentences(1, 24_000)))
	s.Upload(token, second, "short.txt", []byte(platform.Sentences(2, 30)))
	s.Settle(token, second)
	if got := found(s, token, second); !reflect.DeepEqual(got, want) {
		t.Errorf("the twins have other vectors:\n%v\n%v", got, want)
	}
	s.Must(200, "DELETE", fmt.Sprintf("/context/%d", first), token, nil)
	s.SQL(`UPDATE contexts SET version = version + 1`)
	if got := found(s, token, second); !reflect.DeepEqual(got, want) {
		t.Errorf("with the others the twins' vectors have gone:\n%v\n%v", got, want)
	}
	if n := s.Number(`SELECT count(*) FROM vector_blocks b JOIN documents d ON d.id = b.document_id AND d.context_id <> $1`, second); n != 0 {
		t.Errorf("%d blocks of a deleted context", n)
	}
}
