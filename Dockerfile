# syntax=docker/dockerfile:1
# The service in a container: `docker build -t crowdpilot .`, or compose.yaml for it and PostgreSQL together.
# `make images` adds the digest of the image, so that nobody can put another in its place.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
# What to install, with the digests of locks/: `--build-arg LOCK=service-learn` adds classifiers, and with them PyTorch.
ARG LOCK=service
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
COPY . .
RUN python -m venv --without-pip /opt/crowdpilot \
    && pip --python /opt/crowdpilot/bin/python install --require-hashes --only-binary :all: -r "locks/${LOCK}.txt" \
    && pip install --require-hashes --only-binary :all: -r locks/build.txt \
    && pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && pip --python /opt/crowdpilot/bin/python install --no-deps --no-index /wheels/*.whl

FROM ${PYTHON_IMAGE}
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
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["crowdpilot"]
CMD ["serve", "--host", "0.0.0.0"]
