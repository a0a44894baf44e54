# docker build -t isolation --build-arg VERSION="$(git describe --tags --abbrev=0)" .
# docker run --rm -v "$PWD:/work" isolation analyse game_agent.py
FROM python:3.11-slim
ARG VERSION=0.1.dev0
COPY . /src
RUN SETUPTOOLS_SCM_PRETEND_VERSION="$VERSION" pip install --no-cache-dir /src && rm -rf /src
RUN useradd --uid 1000 --create-home player && install -d -o player /work
USER 1000
WORKDIR /work
# What is compiled for every run is compiled once, here.
RUN isolation system cache warm
ENTRYPOINT ["isolation"]
