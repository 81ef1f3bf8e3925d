-- Run once by the postgres image, on an empty volume: one role and its databases for Temporal, one of each for the ledger.
-- Neither role may connect to the other's databases, create databases or become superuser.
\getenv temporal_password TEMPORAL_DB_PASSWORD
\getenv surety_password SURETY_DB_PASSWORD

CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE ALL ON DATABASE temporal, temporal_visibility FROM PUBLIC;

CREATE ROLE surety LOGIN PASSWORD :'surety_password';
CREATE DATABASE surety OWNER surety;
REVOKE ALL ON DATABASE surety FROM PUBLIC;
