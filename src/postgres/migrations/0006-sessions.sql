-- readable since 1
-- Who is signed in to the console, and by which token. Only a hash is kept; a session ends with its token.
create table session (
  hash bytea primary key,
  token uuid not null references token,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null
);
create index session_expires on session (expires_at);
