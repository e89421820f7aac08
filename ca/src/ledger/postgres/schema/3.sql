-- Whether the ledger is in force (0), is moved to another place (1), was moved there (2), or is filled from there (3): where that
-- is, which target it is, and which attempt. One that is in force may have the target by which it came here.
ALTER TABLE @.ledger
    ADD COLUMN standing smallint NOT NULL DEFAULT 0 CHECK (standing BETWEEN 0 AND 3),
    ADD COLUMN elsewhere text,
    ADD COLUMN target bytea,
    ADD COLUMN attempt bytea;
