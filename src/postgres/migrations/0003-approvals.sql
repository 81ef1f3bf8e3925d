-- readable since 1
-- One question to a person. The row outlives its workflow: whoever asks again days later finds what was decided.
create table approval (
  id uuid primary key,
  identity text not null,           -- hash of agent, session, tool and arguments
  ordinal integer not null,         -- a second legitimate call asks again
  subject bigint not null references subject,
  server text not null,
  tool text not null,
  scope text,
  agent text,
  session text,
  asked_by uuid,                    -- the token that asked, where there was one
  owner text,                       -- whose token it is
  digest text not null,             -- of the arguments: RFC 8785, SHA-256
  arguments jsonb,                  -- what will run, for whoever decides; pruned with the question
  definition text,
  because text not null,
  state text,                       -- ESCALATED, RECOVERING, BLOCKED; null where the situation asks
  is_security boolean not null,
  risk text not null,
  terms jsonb not null,             -- of the rule in force when it was asked
  asked integer not null default 1, -- how often the same question came
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'expired', 'withdrawn')),
  version integer not null default 1,
  level integer not null default 0,
  reminders integer not null default 0,
  consents text[] not null default '{}',
  asked_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  ended_by text,                    -- null where nobody decided
  end_reason text,
  verified boolean,
  edit_digest text,                 -- of what is to run instead
  holds_until timestamptz(3),       -- a denial answers until then
  started_at timestamptz(3),        -- its workflow was started
  unique (identity, ordinal)
);
create index approval_pending on approval (id) where status = 'pending';
create index approval_unstarted on approval (id) where started_at is null;
create index approval_ended on approval (ended_at) where ended_at is not null;

-- What somebody decided, written before the workflow is told of it: a signal only names the row.
create table approval_decision (
  id uuid primary key,
  approval uuid not null references approval on delete cascade,
  verb text not null check (verb in ('approve', 'deny', 'extend', 'withdraw')),
  by text not null,
  token uuid,
  reason text not null,
  expected_version integer,
  grant_terms jsonb,
  extend_seconds integer,
  edit jsonb,                       -- arguments to run instead
  edit_digest text,
  at timestamptz(3) not null default clock_timestamp(),
  signalled_at timestamptz(3),
  outcome text check (outcome in ('taken', 'refused')),
  because text
);
create index approval_decision_unsignalled on approval_decision (id) where signalled_at is null;
create index approval_decision_approval on approval_decision (approval);

-- What an approval leaves behind.
create table approval_grant (
  id uuid primary key,
  approval uuid not null unique references approval,
  subject bigint not null references subject,
  kind text not null check (kind in ('once', 'session', 'until', 'always')),
  covers text not null check (covers in ('arguments', 'scope', 'tool')),
  pattern jsonb,
  scope text,
  agent text,
  session text,
  digest text not null,
  definition text,
  until timestamptz(3),
  given_at timestamptz(3) not null default clock_timestamp(),
  given_by text,
  uses integer not null default 0,
  consumed_by uuid,                 -- the one call that a once-grant let through
  consumed_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by text,
  revoke_reason text
);
create index approval_grant_live on approval_grant (subject) where revoked_at is null and consumed_by is null;

-- What a tool says it is. Another definition is another tool: what was granted to the old one ends.
alter table subject add column definition text;

-- Who may do what over HTTP. Only a hash is kept.
create table token (
  id uuid primary key,
  name text not null,
  owner text not null,
  hash bytea not null unique,
  roles text[] not null check (roles <> '{}' and roles <@ '{agent,approver,operator,admin}'::text[]),
  created_at timestamptz(3) not null default clock_timestamp(),
  created_by text not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by text
);

-- Requests per identity in the current ten seconds: reconnecting, or going to another server, starts no new count.
create unlogged table rate (
  identity text primary key,
  slot bigint not null,
  used bigint not null
);

-- What a write answered, so that sending it again under its key changes nothing and is answered the same.
create table idempotency (
  identity text not null,
  key text not null,
  request text not null,            -- digest of what was asked
  status integer not null,
  body text not null,
  at timestamptz(3) not null default clock_timestamp(),
  primary key (identity, key)
);
create index idempotency_at on idempotency using brin (at);
