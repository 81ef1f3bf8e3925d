-- readable since 1
-- Of equally specific globs the first in the file wins, so the order of a file's keys is part of what it says.
alter table rules alter column body type json;

-- Rows under ids that callers chose are pruned by the time they came in, which is also the order in which they lie.
create index ledger_foreign_received on ledger_foreign using brin (received_at);
