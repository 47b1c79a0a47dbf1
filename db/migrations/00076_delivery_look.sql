-- +canopy compatible
-- +goose Up
-- Behind which destination the next look for deliveries that are due begins: workers share the way past all that have something pending.
CREATE TABLE delivery_look (
	one    boolean PRIMARY KEY DEFAULT true CHECK (one),
	behind bigint NOT NULL DEFAULT 0
);
INSERT INTO delivery_look DEFAULT VALUES;

-- +goose Down
DROP TABLE delivery_look;
