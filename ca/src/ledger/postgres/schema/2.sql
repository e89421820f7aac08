-- How certificates came about: what each was issued for, which policy permitted it, and on what evidence. Those of before
-- don't say so. Texts are written as in 1.sql.
ALTER TABLE @.certificates
    ADD COLUMN request bytea CHECK (length(request) = 32),
    ADD COLUMN policy bytea CHECK (length(policy) = 32),
    ADD COLUMN policy_reader text,
    ADD COLUMN evidence text,
    ADD CHECK (num_nulls(policy, policy_reader) IN (0, 2));
CREATE UNIQUE INDEX certificates_by_request ON @.certificates (request) WHERE request IS NOT NULL;
