-- Where to find a line of the audit. The files are the record; this can be emptied and filled from them at any time.
create table audit_index (
  file text not null,
  line_offset bigint not null,
  hash text not null,
  at timestamptz(3) not null,
  tool text not null,
  outcome text not null,
  primary key (file, line_offset)
);
create index audit_index_at on audit_index (at);
create index audit_index_tool on audit_index (tool, at);
