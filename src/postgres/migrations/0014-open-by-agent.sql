-- readable since 1
-- Counting what one agent has asked and nobody has answered costs no more than that.
create index approval_open_by_agent on approval (coalesce(agent, '')) where status = 'pending';
