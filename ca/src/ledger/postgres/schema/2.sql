-- In an order in which nobody of the first version waits for this while this waits for it, or hardly anybody: then one of the
-- two is done again.
LOCK TABLE @.certificates, @.ledger, @.events IN ACCESS EXCLUSIVE MODE;

-- How certificates came about: what each was issued for, which policy permitted it, and on what evidence. Those of before
-- don't say so. Texts are written as in 1.sql.
ALTER TABLE @.certificates
    ADD COLUMN request bytea CHECK (length(request) = 32),
    ADD COLUMN policy bytea CHECK (length(policy) = 32),
    ADD COLUMN policy_reader text,
    ADD COLUMN evidence text,
    ADD CHECK (num_nulls(policy, policy_reader) IN (0, 2));
CREATE UNIQUE INDEX certificates_by_request ON @.certificates (request) WHERE request IS NOT NULL;

-- The events as a chain. Each change writes its events in its own transaction, and whoever comes next chains those that are
-- not chained yet, under a lock: "number" says in which order, which need not be that of "event", since what was begun first
-- may be committed last. "body" is what is hashed; events of the first version get theirs when they are chained. Others
-- than what was revoked, released and confirmed have been written since this step.
ALTER TABLE @.ledger ADD COLUMN chain_start bytea CHECK (length(chain_start) = 32);
UPDATE @.ledger SET chain_start = sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
ALTER TABLE @.ledger ALTER COLUMN chain_start SET NOT NULL;
ALTER TABLE @.events
    ADD COLUMN body bytea,
    ADD COLUMN number bigint UNIQUE,
    ADD COLUMN digest bytea CHECK (length(digest) = 32),
    ADD CHECK (num_nulls(number, digest) IN (0, 2)),
    ADD CHECK (number IS NULL OR body IS NOT NULL);
CREATE INDEX events_not_chained ON @.events (event) WHERE number IS NULL;
