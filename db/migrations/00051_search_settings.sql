-- How a context is searched where a search does not say: what is compared, and the part that its model has in a HYBRID search.

-- +goose Up
ALTER TABLE contexts
    ADD COLUMN search_mode  text             NOT NULL DEFAULT 'SEMANTIC' CHECK (search_mode IN ('SEMANTIC', 'LEXICAL', 'HYBRID')),
    ADD COLUMN dense_weight double precision NOT NULL DEFAULT 0.5 CHECK (dense_weight BETWEEN 0 AND 1);
DROP TRIGGER row_updated ON contexts;
CREATE TRIGGER row_updated BEFORE UPDATE OF name, description, caption, tools_json, starter_prompts, top_n, score_threshold, search_mode, dense_weight, chunk_size, overlap,
    embedding_model, share_state, icon ON contexts FOR EACH ROW EXECUTE FUNCTION row_updated();

-- +goose Down
DROP TRIGGER row_updated ON contexts;
CREATE TRIGGER row_updated BEFORE UPDATE OF name, description, caption, tools_json, starter_prompts, top_n, score_threshold, chunk_size, overlap, embedding_model,
    share_state, icon ON contexts FOR EACH ROW EXECUTE FUNCTION row_updated();
ALTER TABLE contexts DROP COLUMN search_mode, DROP COLUMN dense_weight;
