-- The sessions of a tenant, newest first: an index holds the number of its row besides.
CREATE INDEX session_tenant ON session (tenant);
