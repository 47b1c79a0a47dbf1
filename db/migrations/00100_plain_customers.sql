-- +canopy compatible
-- +goose NO TRANSACTION
-- The words of companies whose names have letters that are plain now are written anew, a thousand companies at a time, as who renames one of these waits for that. The words are held before the name is
-- read, so that none is of a name from before. Whatever ends this, it goes on with those that are left.

-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE
    upto bigint := 0;
    due bigint[];
BEGIN
    LOOP
        SELECT max(w.customer_id), array_agg(w.customer_id) FILTER (
            WHERE CASE WHEN octet_length(c.name) <> char_length(c.name) AND folded(c.name) <> plain(c.name) THEN w.words <> words_of(c.name) END) INTO upto, due
        FROM (SELECT customer_id, words FROM customer_words WHERE customer_id > upto ORDER BY customer_id LIMIT 1000) w LEFT JOIN customers c ON c.id = w.customer_id;
        EXIT WHEN upto IS NULL;
        PERFORM FROM customer_words WHERE customer_id = ANY (due) ORDER BY customer_id FOR NO KEY UPDATE;
        UPDATE customer_words w SET words = words_of(c.name) FROM customers c WHERE c.id = w.customer_id AND w.customer_id = ANY (due);
        COMMIT;
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 1;
