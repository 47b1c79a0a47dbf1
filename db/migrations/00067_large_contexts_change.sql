-- +canopy compatible
-- What a search and an upload need to know of a context is not read from all of its documents.

-- +goose Up

-- Which document a version of a context is about. A version that has no row here is about any of them: whoever has an index of an
-- earlier one reads what all documents are. Rows of old versions go as new ones come.
CREATE TABLE context_changes (
    context_id  bigint NOT NULL REFERENCES contexts ON DELETE CASCADE,
    version     bigint NOT NULL,
    document_id bigint NOT NULL,
    PRIMARY KEY (context_id, version)
);

-- The sizes of a context's documents together, in bytes. A row apart, as the context's own must not change while it is deleted.
CREATE TABLE context_sizes (
    context_id bigint PRIMARY KEY REFERENCES contexts ON DELETE CASCADE,
    size       bigint NOT NULL
) WITH (fillfactor = 50);

-- +goose StatementBegin
CREATE FUNCTION document_sizes_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO context_sizes AS s SELECT context_id, sum(size)::bigint FROM changed GROUP BY context_id ORDER BY context_id
    ON CONFLICT (context_id) DO UPDATE SET size = s.size + EXCLUDED.size;
    RETURN NULL;
END $$;
CREATE FUNCTION document_sizes_taken() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM context_sizes WHERE context_id = ANY (ARRAY(SELECT context_id FROM changed)) ORDER BY context_id FOR NO KEY UPDATE;
    UPDATE context_sizes s SET size = s.size - c.size
    FROM (SELECT context_id, sum(size)::bigint AS size FROM changed GROUP BY context_id) c WHERE s.context_id = c.context_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER document_sizes_added AFTER INSERT ON documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION document_sizes_added();
CREATE TRIGGER document_sizes_taken AFTER DELETE ON documents
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION document_sizes_taken();
INSERT INTO context_sizes SELECT context_id, sum(size)::bigint FROM documents GROUP BY context_id;

-- Where the next number of a name is found.
CREATE INDEX documents_named ON documents (context_id, original_name, name_index);

-- +goose Down
DROP INDEX documents_named;
DROP TRIGGER document_sizes_taken ON documents;
DROP TRIGGER document_sizes_added ON documents;
DROP FUNCTION document_sizes_taken(), document_sizes_added();
DROP TABLE context_sizes, context_changes;
