# syntax=docker/dockerfile:1
# The service in a container: `docker build -t crowdpilot .`, or compose.yaml for it and PostgreSQL together.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
# What to install: `--build-arg EXTRAS=service,learn` adds classifiers, and with them PyTorch.
ARG EXTRAS=service
# One more package index, such as the one with PyTorch for the processor alone.
ARG PIP_EXTRA_INDEX_URL
ENV PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
COPY . .
RUN python -m venv --without-pip /opt/crowdpilot \
    && pip --python /opt/crowdpilot/bin/python install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]"

FROM python:${PYTHON}-slim
RUN useradd --no-log-init --no-create-home --home-dir /data --uid 10001 crowdpilot \
    && install --directory --owner=crowdpilot --group=crowdpilot --mode=700 /data
COPY --from=build /opt/crowdpilot /opt/crowdpilot
ENV PATH=/opt/crowdpilot/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MPLCONFIGDIR=/data/matplotlib \
    CROWDPILOT_DATABASE=/data/crowdpilot.db \
    CROWDPILOT_ADDRESS=http://127.0.0.1:8000
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["crowdpilot"]
CMD ["serve", "--host", "0.0.0.0"]
