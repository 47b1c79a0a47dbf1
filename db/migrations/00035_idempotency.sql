-- Requests that carry an Idempotency-Key are done once: what was answered is kept, and given again.

-- +goose Up

-- id is the caller's credential with the key behind it. request is the sealed hash of what was asked for. Who has claimed a
-- key works on it until leased_until; each claim after the first is another attempt. changed_at is written in the transaction
-- of a change, so that what was committed is known to be done, whatever became of the answer.
CREATE TABLE idempotency_keys (
    id           text        PRIMARY KEY,
    caller       text        NOT NULL,
    branch_id    bigint      NOT NULL,
    customer_id  bigint      NOT NULL REFERENCES customers ON DELETE CASCADE,
    user_id      bigint      NOT NULL REFERENCES users ON DELETE CASCADE,
    request      bytea       NOT NULL,
    answer       bytea,
    attempt      integer     NOT NULL DEFAULT 1,
    leased_until timestamptz NOT NULL,
    changed_at   timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    bytes        integer     NOT NULL GENERATED ALWAYS AS (512 + octet_length(id) + octet_length(request) + COALESCE(octet_length(answer), 0)) STORED
) WITH (fillfactor = 70);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_customer ON idempotency_keys (customer_id);
CREATE INDEX idempotency_keys_user ON idempotency_keys (user_id);

-- What is kept of a caller, and of a branch, in bytes. It is divided among slots by the key, so that writers seldom meet, and a
-- slot comes back to zero.
CREATE TABLE idempotency_bytes (
    owner text     NOT NULL,
    slot  smallint NOT NULL,
    bytes bigint   NOT NULL,
    PRIMARY KEY (owner, slot)
) WITH (fillfactor = 50);

-- They follow from the keys, and are kept here, so no writer can get them wrong.
-- +goose StatementBegin
CREATE FUNCTION idempotency_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO idempotency_bytes AS b (owner, slot, bytes)
    SELECT o.owner, hashtext(c.id) & 7, TG_ARGV[0]::integer * sum(c.bytes)
    FROM changed c CROSS JOIN LATERAL (VALUES (c.caller), ('branch:' || c.branch_id)) o(owner)
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE FUNCTION idempotency_answered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO idempotency_bytes AS b (owner, slot, bytes)
    SELECT o.owner, hashtext(NEW.id) & 7, NEW.bytes - OLD.bytes FROM (VALUES (NEW.caller), ('branch:' || NEW.branch_id)) o(owner) ORDER BY 1
    ON CONFLICT (owner, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER idempotency_made AFTER INSERT ON idempotency_keys
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION idempotency_counted('1');
CREATE TRIGGER idempotency_gone AFTER DELETE ON idempotency_keys
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION idempotency_counted('-1');
CREATE TRIGGER idempotency_answered AFTER UPDATE ON idempotency_keys
    FOR EACH ROW WHEN (OLD.bytes <> NEW.bytes) EXECUTE FUNCTION idempotency_answered();

-- +goose Down
DROP TABLE idempotency_keys, idempotency_bytes;
DROP FUNCTION idempotency_counted(), idempotency_answered();
