# One virtual environment for everything; PYTHON chooses the interpreter it is made with. Only what is imported is
# compiled to bytecode, when it is: compiling all of every package would take longer than installing it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: tournament install test slow exhaustive lint docs wheel bench sizes lowest newest clean

tournament: $(VENV)/installed
	$(BIN)/isolation tournament

install: $(VENV)/installed

# All tests that take little time; with ROOM=search only those of that room.
test: $(VENV)/installed-dev
	$(BIN)/pytest $(ROOM:%=tests/%)

# Many of the long proofs wait for something, so more run at once.
slow: $(VENV)/installed-dev
	$(BIN)/pytest --numprocesses=5 -m "slow and not exhaustive" --timeout=1500

# The longest proofs, and the members of large families of tests that `test` and `slow` leave out.
exhaustive: $(VENV)/installed-dev
	$(BIN)/pytest -m exhaustive --timeout=1500

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/room_sizes.py

# The site, in build/site.
docs: $(VENV)/installed
	$(BIN)/pip install --quiet --no-compile --config-settings editable_mode=compat --editable '.[docs]'
	$(BIN)/sphinx-build --quiet --fail-on-warning --conf-dir docs . build/site
	$(BIN)/python docs/check_links.py

# Wheel and source archive in build/dist; the wheel plays in an environment of its own.
wheel:
	.ci/wheel

bench: $(VENV)/installed-dev
	$(BIN)/pytest benchmarks --numprocesses=0 --benchmark-only --benchmark-columns=min,median,rounds

# How many lines each room has, and may have.
sizes: $(VENV)/installed
	$(BIN)/python docs/room_sizes.py

lowest:
	.ci/lowest

newest:
	.ci/newest

clean:
	rm -rf $(VENV)

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --config-settings editable_mode=compat --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --config-settings editable_mode=compat --editable '.[dev]'
	touch $@ $(VENV)/installed
