# The image of a server: the same steps as `make setup`, then the datasets are built into it.
# The base can be replaced as a whole: docker build --build-arg BASE_IMAGE=<image with python3 3.11 or later> .
ARG BASE_IMAGE=python:3.11.13-slim-bookworm

FROM ${BASE_IMAGE} AS build
ARG UV_VERSION=0.13.9
WORKDIR /app
ENV UV_PROJECT_ENVIRONMENT=/app/.venv UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN python3 -m venv /opt/uv
RUN /opt/uv/bin/pip install --quiet "uv==${UV_VERSION}"
RUN python3 -m venv /app/.venv
COPY pyproject.toml uv.lock README.md LICENSE ./
# What the lock names first, in a layer of its own: it changes less often than our source.
RUN /opt/uv/bin/uv sync --frozen --quiet --no-dev --no-install-project
COPY envs/sql_optim_env envs/sql_optim_env
RUN /opt/uv/bin/uv sync --frozen --quiet --no-dev --no-editable
RUN /app/.venv/bin/sql-optim build --data-dir /data

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="sql_optim_env" \
      org.opencontainers.image.description="OpenEnv environment server for SQL optimisation" \
      org.opencontainers.image.licenses="BSD-3-Clause" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /app/.venv /app/.venv
COPY --from=build /data /data
COPY README.md LICENSE /app/
# The web page is what a Space shows first. Nothing is written outside /tmp, so the root may be read-only.
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    ENABLE_WEB_INTERFACE=true \
    SQL_OPTIM_HOST=0.0.0.0 \
    SQL_OPTIM_PORT=8000 \
    SQL_OPTIM_DATA_DIR=/data \
    SQL_OPTIM_GENERATED_DIR=/tmp/sql_optim_generated \
    SQL_OPTIM_SCRATCH_DIR=/tmp/sql_optim
WORKDIR /app
USER 65532:65532
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
CMD ["server"]
