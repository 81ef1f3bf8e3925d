-- readable since 1
-- To what the first of two people has agreed: the second must agree to the same, also where the workflow was started again.
alter table approval add column agreed text;
