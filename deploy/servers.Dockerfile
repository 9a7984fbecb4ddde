# Postgres and Redis of Debian, for deployments that bring their own: deploy/compose.yaml and the trial on Kubernetes. The command
# is postgres or redis. Both run as an ordinary user, keep their data in /data, and read their secrets from /run/secrets
# (deploy/secrets). /tmp must be writable. Postgres archives its log in /archive, if that is a volume; backup and restore are deploy/backup
# and deploy/restore, and deploy/archive-log compresses.
ARG BASE=debian:trixie-slim
FROM ${BASE}
COPY deploy/dev.d /build/deploy/dev.d
COPY deploy/image/packages /build/deploy/image/packages
RUN /build/deploy/image/packages servers && rm -r /build \
    && groupadd --gid 10001 expops && useradd --uid 10001 --gid 10001 --home-dir /data --no-log-init expops \
    && install -d -o expops -g expops /data /archive /backup
COPY deploy/audit.sql deploy/init.sql /usr/local/share/expops/
COPY deploy/image/postgres deploy/image/redis deploy/archive-log deploy/backup deploy/restore /usr/local/bin/
ENV PGHOST=/tmp PGUSER=expops
EXPOSE 5432 6379
USER 10001:10001
