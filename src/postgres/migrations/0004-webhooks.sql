-- readable since 1
-- Who outside is told of what happens here.
create table webhook (
  id uuid primary key,
  url text not null,
  secret text,                      -- signs what is sent; gone with the webhook
  events text[] not null,           -- empty: all of them
  allow_private boolean not null,   -- a target of our own network, which an operator trusts
  retry_seconds integer not null,   -- for how long a delivery is tried
  created_at timestamptz(3) not null default clock_timestamp(),
  created_by text not null,
  removed_at timestamptz(3),
  removed_by text
);

-- What they are to be told, written together with what it tells of: one row for each webhook that wants it.
create table webhook_delivery (
  id uuid primary key,              -- the receiver's `webhook-id`, however often it is sent
  webhook uuid not null references webhook,
  type text not null,
  at timestamptz(3) not null,       -- of what it tells of
  data jsonb not null,
  link text not null,               -- below the console's address, which whoever delivers knows
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  run integer not null default 1,   -- a replay is another one, with a workflow of its own
  attempts integer not null default 0, -- of this run
  answer integer,                   -- HTTP status of the last attempt
  error text,                       -- why the last attempt failed
  created_at timestamptz(3) not null default clock_timestamp(),
  started_at timestamptz(3),        -- its workflow was started
  ended_at timestamptz(3)           -- delivered, or given up
);
create index webhook_delivery_unstarted on webhook_delivery (id) where status = 'pending' and started_at is null;
create index webhook_delivery_pending on webhook_delivery (webhook) where status = 'pending';
create index webhook_delivery_dead on webhook_delivery (id) where status = 'dead';
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;
