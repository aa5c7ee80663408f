# The panel as an image: `docker compose up -d`, or `docker build -t roost .`; see docs/one-machine.md.
# Both images can be replaced: the first one needs Node and npm, the second one glibc and libstdc++.
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f

FROM ${NODE_IMAGE} AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && rm -rf dist/workers && mkdir -m 700 -p /folders/data /folders/secrets

# Nothing is run in this stage, since its image has no shell.
FROM ${BASE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Roost" \
      org.opencontainers.image.description="A game-server hosting panel that speaks the Pterodactyl API" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /source/dist /app/dist
COPY --from=build /source/container/health.mjs /source/container/secrets.mjs /app/container/
COPY --from=build /source/container/panel /usr/local/bin/panel
# New volumes take the owner of these folders.
COPY --from=build --chown=65532:65532 /folders /
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    DEMO=false \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    PANEL_COMMAND="docker compose exec panel panel"
USER 65532:65532
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["node", "/app/container/health.mjs"]
ENTRYPOINT ["node", "--max-semi-space-size=24", "/app/dist/server/main.mjs"]
