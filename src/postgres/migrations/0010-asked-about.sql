-- readable since 1
-- When the newest of what is held against the call began, as whoever asked knew it: what began later was not asked about.
alter table approval add column held_since timestamptz(3);
