#!/bin/sh
# Registers the search attributes that Surety's workflows write; without them every workflow task would fail.
# `create` accepts an attribute that exists with the same type and refuses one of another type.
set -eu
: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}"

# A new namespace or attribute reaches the server's caches some seconds later: done means that a query can use all five.
ensure_search_attributes() {
  temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name SuretyTool --type Keyword \
    --name SuretyServer --type Keyword \
    --name SuretyState --type Keyword \
    --name SuretyReason --type Keyword \
    --name SuretyDueAt --type Datetime &&
    temporal workflow count --namespace "$TEMPORAL_NAMESPACE" \
      --query "SuretyTool = '' AND SuretyServer = '' AND SuretyState = '' AND SuretyReason = '' AND SuretyDueAt IS NOT NULL"
}

attempt=1
until answer=$(ensure_search_attributes 2>&1); do
  if [ "$attempt" -ge "${MAX_ATTEMPTS:-60}" ]; then
    printf '%s\nSearch attributes could not be registered in namespace %s at %s.\n' \
      "$answer" "$TEMPORAL_NAMESPACE" "$TEMPORAL_ADDRESS" >&2
    exit 1
  fi
  case $answer in
    *'different type'*) MAX_ATTEMPTS=0 ;; # waiting does not change a type
    *) sleep 2 ;;
  esac
  attempt=$((attempt + 1))
done
echo "Search attributes are ready in namespace $TEMPORAL_NAMESPACE."
