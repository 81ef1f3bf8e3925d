#!/bin/sh
# Brings Temporal's two databases to the schema that this admin-tools version carries. Connection: SQL_* in the environment.
# Safe to run again: setup-schema leaves a versioned database alone, update-schema applies only what is newer.
# No `create`: init.sql made the databases, so Temporal's role needs no right to make more.
set -eu

for database in temporal temporal_visibility; do
  case $database in
    temporal) schema=postgresql/v12/temporal ;;
    temporal_visibility) schema=postgresql/v12/visibility ;;
  esac
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-name "$schema"
done
