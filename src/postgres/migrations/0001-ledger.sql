-- Which installation this is, and which life of its ledger. A restore keeps the generation: see docs/operate.md.
create table installation (
  only_row boolean primary key default true check (only_row),
  id uuid not null,
  generation uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now()
);

-- Scopes, agents and sessions recur in every row of the ledger; there they are numbers.
create table name (
  id integer generated always as identity primary key,
  text text not null unique
);

-- The head row of each tool and server: everything that must change together with its ledger rows.
create table subject (
  id bigint generated always as identity primary key,
  key text not null unique,
  kind text not null check (kind in ('tool', 'server')),
  server text not null,
  name text not null,
  seq bigint not null default 0,          -- of the newest ledger row
  ring_seq bigint not null default 0,     -- of the newest row that the workflow must be told of
  applied_seq bigint not null default 0,  -- what the workflow has applied
  rung_at timestamptz,                    -- a bell that has not been answered
  attentive boolean not null default false, -- not plainly trusted: every outcome rings
  due_at timestamptz,                     -- when time alone changes trust
  outcomes bigint not null default 0,
  failures bigint not null default 0,
  rejected bigint not null default 0,     -- reports that could not be understood
  first_seen_at timestamptz not null default now()
) with (fillfactor = 50);
create index subject_unapplied on subject (id) where ring_seq > applied_seq;
create index subject_due on subject (due_at) where due_at is not null;
create index subject_server on subject (server, name);

-- Partitioned by the id itself: a report that is sent again meets its original whatever day it is.
create table ledger (
  id uuid primary key,
  subject bigint not null,
  seq bigint not null,
  server_subject bigint,  -- set when the row also concerns the server
  server_seq bigint,
  kind smallint not null, -- KINDS in src/postgres/codes.ts
  at timestamptz(3) not null,
  received_at timestamptz(3) not null,
  started_at timestamptz(3),
  trust_version bigint,
  scope integer,
  agent integer,
  session integer,
  severity smallint,
  category smallint,
  probe smallint,
  structured boolean,
  recoverable boolean,
  detail jsonb            -- never on a success
) partition by range (id);
create index ledger_subject on ledger (subject, seq);
create index ledger_eventful on ledger (subject, seq) where kind <> 0;
create index ledger_server on ledger (server_subject, server_seq) where server_subject is not null;

-- Ids that callers chose have no time in them: they map into this range (see src/postgres/outcome-id.ts).
create table ledger_foreign partition of ledger
  for values from ('00000000-0000-0000-0000-000000000000') to ('00000000-0001-0000-0000-000000000000');
-- Clocks far off end here rather than losing their report.
create table ledger_stray partition of ledger default;

-- What gates and people read. `parts` is the whole state, so that a workflow that lost its own can adopt it.
create table trust (
  subject bigint primary key references subject,
  version bigint not null,
  seq bigint not null,
  rules_version integer not null,
  status text not null check (status in ('TRUSTED', 'ESCALATED', 'RECOVERING', 'BLOCKED')),
  reason text not null,
  due_at timestamptz(3),
  parts jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);
create index trust_in_doubt on trust (subject) where status <> 'TRUSTED';
create index trust_recent on trust (updated_at);

create table rules (
  version integer generated always as identity primary key,
  body jsonb not null,
  published_at timestamptz not null default now(),
  published_by text not null,
  comment text not null default ''
);

-- One row per part and live probe; one token covers all parts a call needs.
create table probe (
  token bigint not null,
  part_key text not null,
  subject bigint not null references subject,
  scope text,
  call_id uuid not null,
  agent text,
  trust_version bigint not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  primary key (token, part_key)
);
create unique index probe_live on probe (part_key) where ended_at is null;
create sequence probe_token;

create table break_glass (
  id integer generated always as identity primary key,
  until timestamptz not null,
  by text not null,
  reason text not null,
  at timestamptz not null default now()
);

create table audit (
  id bigint generated always as identity primary key,
  at timestamptz(3) not null default clock_timestamp(),
  subject bigint references subject,
  part text,
  actor text not null,
  action text not null,
  reason text not null,
  detail jsonb
);
create index audit_subject on audit (subject, id);
