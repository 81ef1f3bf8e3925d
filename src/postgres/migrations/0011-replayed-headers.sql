-- readable since 1
-- A write that is sent again is answered as it was, and when to come back is part of the answer.
alter table idempotency add column headers jsonb not null default '{"content-type": "application/json"}';
