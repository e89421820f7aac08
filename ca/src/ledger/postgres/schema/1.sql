-- The ledger of a CA. "@." stands for the name of the schema.

-- One row: which of these files were run, and what a person said of the time. Times are seconds since 1970. The era
-- counts how often somebody confirmed the time: only times of this era are compared with the clock.
CREATE TABLE @.ledger (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    format integer NOT NULL,
    era bigint NOT NULL DEFAULT 0,
    confirmed bigint
);
INSERT INTO @.ledger (format) VALUES (0);

-- What was issued and revoked. In texts, "\" is written "\\", and a zero "\0"; each of the names ends with a line break,
-- and one within is "\n". There is no key to the issuer's row: it would be locked by each certificate.
CREATE TABLE @.certificates (
    serial bytea PRIMARY KEY CHECK (length(serial) BETWEEN 1 AND 20),
    issuer text NOT NULL,
    -- the first bytes of a digest of the issuer, which may be long
    issuer_id bigint NOT NULL,
    subject text NOT NULL,
    names text NOT NULL,
    not_before bigint NOT NULL,
    not_after bigint NOT NULL,
    profile text NOT NULL,
    key_algorithm text NOT NULL,
    key bytea NOT NULL CHECK (length(key) = 32),
    halves bytea NOT NULL CHECK (length(halves) % 32 = 0),
    requester text NOT NULL,
    issued_at bigint NOT NULL,
    -- null if it was adopted: then its time says nothing of today
    era bigint,
    certificate bytea NOT NULL,
    revoked_at bigint,
    reason smallint,
    revoked_by text,
    -- the number of the issuer's last list that was begun before the revocation
    last_list numeric(20),
    CHECK (num_nulls(revoked_at, reason, revoked_by, last_list) IN (0, 4))
);
ALTER TABLE @.certificates ALTER COLUMN certificate SET STORAGE EXTERNAL;
CREATE INDEX certificates_by_expiry ON @.certificates (not_after, length(serial), serial);
CREATE INDEX certificates_by_issuer ON @.certificates (issuer_id, not_after, length(serial), serial);
CREATE INDEX certificates_by_time ON @.certificates (era, issued_at);
CREATE INDEX certificates_revoked ON @.certificates (issuer_id, serial) WHERE reason IS NOT NULL;
CREATE INDEX certificates_revoked_by_expiry ON @.certificates (not_after, length(serial), serial) WHERE reason IS NOT NULL;

-- The names of certificates with their labels reversed, so that a domain is before all below it: the first 255 bytes.
CREATE TABLE @.names (
    name bytea NOT NULL,
    not_after bigint NOT NULL,
    serial bytea NOT NULL,
    PRIMARY KEY (name, not_after, serial)
);

-- Digests of the certified keys, and of their halves.
CREATE TABLE @.keys (
    key bytea NOT NULL,
    serial bytea NOT NULL,
    PRIMARY KEY (key, serial)
);

-- Each issuer's revocation lists: the last that was begun, and the last of which somebody said that clients can get it.
CREATE TABLE @.lists (
    issuer_id bigint PRIMARY KEY,
    issuer text NOT NULL,
    begun numeric(20) NOT NULL,
    begun_at bigint NOT NULL,
    begun_era bigint NOT NULL,
    written numeric(20) NOT NULL DEFAULT 0,
    written_at bigint NOT NULL DEFAULT 0
);

-- The generations of the issuing key.
CREATE TABLE @.generations (
    place integer PRIMARY KEY,
    name text NOT NULL,
    chain bytea[] NOT NULL,
    stage smallint NOT NULL,
    since bigint NOT NULL,
    brought_about_by text NOT NULL
);

-- Who said what when: revocations, releases and times.
CREATE TABLE @.events (
    event bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what text NOT NULL,
    serial bytea,
    at bigint NOT NULL,
    reason smallint,
    said_by text NOT NULL
);
CREATE INDEX events_by_serial ON @.events (serial) WHERE serial IS NOT NULL;

-- A mark of each change of the last hour: whoever lost the answer finds out whether it was made.
CREATE TABLE @.changes (
    mark bytea PRIMARY KEY,
    made_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX changes_by_time ON @.changes (made_at);
