# One image for the supervisor and for every agent: `docker run IMAGE serve NAME`.
#
# The base is yours to choose: --build-arg PYTHON_IMAGE=registry.example.com/python:3.11-slim-bookworm@sha256:…
ARG PYTHON_IMAGE=python:3.11.14-slim-bookworm

FROM ${PYTHON_IMAGE} AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
COPY requirements.lock /
# The lock is complete and carries hashes; wheels only, so that nothing is compiled and no compiler is needed. The
# packages are a layer of their own, which versions of the application share. pip is not needed any more.
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-deps --require-hashes --only-binary :all: -r /requirements.lock \
    && /opt/venv/bin/pip uninstall -q -y pip \
    && printf '#!/bin/sh\nexec /opt/venv/bin/python3 -m multi_agents.cli "$@"\n' > /opt/venv/bin/platform-engineer \
    && chmod 755 /opt/venv/bin/platform-engineer

FROM packages AS application
WORKDIR /app
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY utils utils
COPY multi_agents multi_agents
COPY agents agents
COPY docs docs
# Made here, since the file system is read-only later, and never compared with its source.
RUN /opt/venv/bin/python3 -m compileall -q --invalidation-mode unchecked-hash utils multi_agents agents

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="platform-engineer" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# The folder exists so that a named volume takes over its owner.
RUN groupadd --gid 10001 agent \
    && useradd --uid 10001 --gid agent --home-dir /data --no-create-home --shell /usr/sbin/nologin agent \
    && install -d -o agent -g agent -m 0750 /data
COPY --from=packages /opt/venv /opt/venv
COPY --from=application /app /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app \
    HOST=0.0.0.0 \
    PORT=8000 \
    PLATFORM_ENGINEER_HOME=/data
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + (os.environ.get('METRICS_PORT') or os.environ['PORT']) + '/healthz', timeout=4)"]
ENTRYPOINT ["platform-engineer"]
CMD ["serve", "supervisor"]
