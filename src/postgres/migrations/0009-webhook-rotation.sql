-- readable since 1
-- While a receiver learns its new secret, what is sent is signed with the old one, too.
alter table webhook add column previous_secret text, add column previous_until timestamptz(3);
