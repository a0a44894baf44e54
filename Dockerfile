# docker build -t isolation . && docker run --rm -v "$PWD:/work" isolation analyse game_agent.py
FROM python:3.11-slim
COPY . /src
RUN pip install --no-cache-dir /src && rm -rf /src
RUN useradd --create-home player && install -d -o player /work
USER player
WORKDIR /work
# What is compiled for every run is compiled once, here.
RUN ISOLATION_TRIES=off isolation tournament --pairs 1 --out /tmp/run >/dev/null && rm -r /tmp/run
ENTRYPOINT ["isolation"]
