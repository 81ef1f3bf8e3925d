-- readable since 1
-- A browser sends a session's cookie to every port of a machine: what a page must show besides is kept by its origin alone.
alter table session add column page_hash bytea;
-- Lists leave long arguments out, without reading them first.
alter table approval add column arguments_length integer;
update approval set arguments_length = octet_length(arguments::text) where arguments is not null;
