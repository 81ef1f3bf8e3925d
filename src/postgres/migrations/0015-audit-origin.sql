-- Several data directories may share a ledger, and each has files of the same names. Rows so far do not say whose they are; `surety audit index` writes them anew.
truncate audit_index;
alter table audit_index add column origin text not null;
alter table audit_index drop constraint audit_index_pkey;
alter table audit_index add primary key (origin, file, line_offset);
