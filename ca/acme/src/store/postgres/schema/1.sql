-- The objects of an ACME server. "@." stands for the name of the schema.
--
-- "body" is the record as JSON; what is searched for stands beside it. "marks" has the random marks of the last changes of
-- a row, 16 bytes each, the newest first: whoever lost an answer finds out by these whether his change was made. Times are
-- seconds since 1970. "in_work" is since when somebody has been working on it, or null.

-- One row: how many of these files were run, and the key for nonces that all replicas share.
CREATE TABLE @.store (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    format integer NOT NULL,
    nonce_key bytea CHECK (length(nonce_key) = 32)
);
INSERT INTO @.store (format) VALUES (0);

CREATE TABLE @.accounts (
    id text CONSTRAINT accounts_id PRIMARY KEY,
    version bigint NOT NULL,
    thumbprint bytea NOT NULL CONSTRAINT accounts_thumbprint UNIQUE,
    nonce bytea NOT NULL CONSTRAINT accounts_nonce UNIQUE,
    marks bytea NOT NULL,
    body text NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE @.accounts ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE @.orders (
    id text CONSTRAINT orders_id PRIMARY KEY,
    version bigint NOT NULL,
    account text NOT NULL,
    nonce bytea NOT NULL CONSTRAINT orders_nonce UNIQUE,
    expires bigint NOT NULL,
    is_valid boolean NOT NULL,
    replaces text,
    in_work bigint,
    marks bytea NOT NULL,
    body text NOT NULL
) WITH (fillfactor = 80);
ALTER TABLE @.orders ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX orders_by_account ON @.orders (account, id);
CREATE INDEX orders_by_expiry ON @.orders (expires);
CREATE INDEX orders_in_work ON @.orders (in_work, id) WHERE in_work IS NOT NULL;

-- Which order replaces the certificate with this name.
CREATE TABLE @.claims (
    name text CONSTRAINT claims_name PRIMARY KEY,
    order_id text NOT NULL
);

CREATE TABLE @.authorizations (
    id text CONSTRAINT authorizations_id PRIMARY KEY,
    version bigint NOT NULL,
    account text NOT NULL,
    -- its type, a colon, and its value
    identifier text NOT NULL,
    is_wildcard boolean NOT NULL,
    is_valid boolean NOT NULL,
    expires bigint NOT NULL,
    in_work bigint,
    marks bytea NOT NULL,
    body text NOT NULL
) WITH (fillfactor = 80);
ALTER TABLE @.authorizations ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX authorizations_valid ON @.authorizations (account, identifier, is_wildcard, expires, id) WHERE is_valid;
CREATE INDEX authorizations_by_expiry ON @.authorizations (expires);
CREATE INDEX authorizations_in_work ON @.authorizations (in_work, id) WHERE in_work IS NOT NULL;

CREATE TABLE @.certificates (
    id text CONSTRAINT certificates_id PRIMARY KEY,
    name text,
    not_after bigint NOT NULL,
    body text NOT NULL
);
ALTER TABLE @.certificates ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX certificates_by_name ON @.certificates (name) WHERE name IS NOT NULL;
CREATE INDEX certificates_by_expiry ON @.certificates (not_after);

-- How often something was done in a window of time, which ends at "until".
CREATE TABLE @.limits (
    name text CONSTRAINT limits_name PRIMARY KEY,
    until bigint NOT NULL,
    count bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX limits_by_end ON @.limits (until);
