-- What is said of a document beside its text: a flat object of texts, numbers and truth values, by which searches and lists are filtered.

-- +goose Up
ALTER TABLE documents ADD COLUMN attributes jsonb NOT NULL DEFAULT '{}';
DROP TRIGGER row_updated ON documents;
CREATE TRIGGER row_updated BEFORE UPDATE OF revision, display_name, attributes ON documents FOR EACH ROW EXECUTE FUNCTION row_updated();

-- +goose Down
DROP TRIGGER row_updated ON documents;
CREATE TRIGGER row_updated BEFORE UPDATE OF revision ON documents FOR EACH ROW EXECUTE FUNCTION row_updated();
ALTER TABLE documents DROP COLUMN attributes;
