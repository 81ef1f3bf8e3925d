-- readable since 1
-- How long a tool that fails as expected may be left alone (see src/domain/trust/patience.ts). It is of the moment when
-- `patient_seq` was applied, under the rules `patient_rules`: once either has moved on it says nothing.
alter table subject
  add column patient_seq bigint,
  add column patient_scope integer,     -- failures of any other ring at once; null: of calls that name none
  add column patient_failures bigint,   -- rung for when `failures` gets there
  add column patient_until timestamptz,
  add column patient_rules integer;
