-- readable since 1
-- Stops every execution while the newest row says so.
create table kill_switch (
  id bigint generated always as identity primary key,
  is_on boolean not null,
  by text not null,
  reason text not null,
  at timestamptz(3) not null default clock_timestamp()
);

-- Calls of a session, counted from its first one.
create table execution_quota (
  agent text not null,
  session text not null,
  used integer not null,
  started_at timestamptz(3) not null,
  primary key (agent, session)
);

-- A call that asks again, because it was retried or has been approved meanwhile, is still one call.
create table execution_call (
  agent text not null,
  session text not null,
  call_id text not null,
  primary key (agent, session, call_id),
  foreign key (agent, session) references execution_quota on delete cascade
);
