package db

import (
	"testing"

	"canopy/internal/devstack/devtest"
)

// BenchmarkFittingDocuments looks for those of one language among 10,000 documents of a context, beside 40,000 of others.
func BenchmarkFittingDocuments(b *testing.B) {
	s := devtest.Must[*Store](b)(Open(b.Context(), devtest.Database(b, Fingerprint(), Migrate), Options{}))
	b.Cleanup(func() { _ = s.Close() })
	for _, statement := range []string{
		`SET session_replication_role = replica`,
		`INSERT INTO contexts (account_id, name, description, caption, tools_json, starter_prompts, embedding_model)
			SELECT 1, 'c' || i, '', '', '[]', '{}', 'canopy-lexical-1' FROM generate_series(1, 5) i`,
		`INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, attributes)
			SELECT x.id, gen_random_uuid(), 'a.txt', 'a.txt', 0, 'txt', 'text/plain', repeat('a', 64), 1, 'ready', 'canopy-lexical-1', 1000, .2,
				jsonb_build_object('lang', (ARRAY['de', 'en', 'fr', 'es'])[i % 4 + 1], 'year', 2000 + i % 25, 'team', 'team ' || i % 100, 'draft', i % 7 = 0)
			FROM contexts x CROSS JOIN generate_series(1, 10000) i`,
		`ANALYZE documents`,
	} {
		_, err := s.pool.ExecContext(b.Context(), statement)
		devtest.Check(b, err)
	}
	var id int64
	devtest.Check(b, s.pool.GetContext(b.Context(), &id, `SELECT max(id) FROM contexts`))
	for b.Loop() {
		ids, err := s.FittingDocuments(b.Context(), []int64{id}, `(exists($."lang" ? (@ == "de")) && exists($."year" ? (@ >= 2020)))`)
		if err != nil || len(ids) != 500 {
			b.Fatal(len(ids), err)
		}
	}
}
