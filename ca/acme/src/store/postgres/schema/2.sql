-- What an account has that is not decided, so that its number can be bounded, and when its holder ended an account, so that
-- it is removed some day. What was there before counts as decided, and an account that was ended before stays.
ALTER TABLE @.orders ADD COLUMN is_open boolean NOT NULL DEFAULT false;
CREATE INDEX orders_open ON @.orders (account, expires, id) WHERE is_open;

ALTER TABLE @.authorizations ADD COLUMN is_pending boolean NOT NULL DEFAULT false;
CREATE INDEX authorizations_pending ON @.authorizations (account, expires, id) WHERE is_pending;

ALTER TABLE @.accounts ADD COLUMN ended bigint;
CREATE INDEX accounts_by_end ON @.accounts (ended) WHERE ended IS NOT NULL;
