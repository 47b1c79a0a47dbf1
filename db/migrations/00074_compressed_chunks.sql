-- +canopy compatible
-- Texts of chunks are compressed in their rows: a page holds two or three of the usual length where it held one, and a copy of a document
-- takes them as they are. Rows from before stay as they are.

-- +goose Up

-- MAIN keeps values in their row as long as that fits a page: what is stored apart costs a look-up each. A server that was built without LZ4 has
-- nothing that is quick enough, and goes on as before.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE chunks ALTER COLUMN content SET COMPRESSION lz4;
    ALTER TABLE chunks ALTER COLUMN content SET STORAGE MAIN, ALTER COLUMN heading SET STORAGE MAIN, ALTER COLUMN places SET STORAGE MAIN;
    ALTER TABLE chunks SET (toast_tuple_target = 2000);
EXCEPTION WHEN feature_not_supported THEN
    RAISE NOTICE 'the server has no LZ4: texts of chunks are not compressed';
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE chunks ALTER COLUMN content SET COMPRESSION default;
ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTENDED, ALTER COLUMN heading SET STORAGE EXTENDED, ALTER COLUMN places SET STORAGE EXTENDED;
ALTER TABLE chunks SET (toast_tuple_target = 8160);
