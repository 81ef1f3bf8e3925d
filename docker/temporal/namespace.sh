#!/bin/sh
# Creates the namespace TEMPORAL_NAMESPACE if it is missing; one that exists keeps the settings its operator gave it.
set -eu
: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}" "${NAMESPACE_RETENTION:?}"

# Describing first makes a lost race or a lost answer harmless: the next attempt finds the namespace.
ensure_namespace() {
  temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" 2>/dev/null ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$NAMESPACE_RETENTION"
}

attempt=1
until answer=$(ensure_namespace 2>&1); do
  if [ "$attempt" -ge "${MAX_ATTEMPTS:-60}" ]; then
    printf '%s\nNamespace %s could not be created at %s.\n' "$answer" "$TEMPORAL_NAMESPACE" "$TEMPORAL_ADDRESS" >&2
    exit 1
  fi
  attempt=$((attempt + 1))
  sleep 2
done
printf '%s\n' "$answer"
