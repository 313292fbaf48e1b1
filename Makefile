# The one list of commands. `make build` is all that the others start with.
VENV   := .venv
PYTHON := $(VENV)/bin/python
ENGINE := $(VENV)/bin/steelyard-engine
RUST   := Cargo.lock Cargo.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Without compiled modules each of the several hundred commands that tests run would compile its own first.
unexport PYTHONDONTWRITEBYTECODE

# Each test with its time; all stacks after nine minutes in one test.
LIVE   := $(PYTHON) -m pytest -v -o console_output_style=times -o faulthandler_timeout=540 --durations 15

.PHONY: build demo test unit rust calibration live browser bench lint format lock clean help

help:            ## show this list
	@grep -E '^[a-z]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed 's/:.*## /\t/' | expand -t 12

build: $(ENGINE) ## set up the environment and build: leaves .venv/bin/steelyard

$(VENV)/.locked: requirements.lock
	test -x $(PYTHON) || python3 -m venv $(VENV)
	$(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

# An editable install makes the Python live but copies the binary: Rust sources are prerequisites, so that it never is stale.
$(ENGINE): $(VENV)/.locked pyproject.toml steelyard.data/scripts/steelyard $(RUST)
	touch $(VENV)/.started
	$(PYTHON) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch -r $(VENV)/.started $@

demo: build      ## the main job on the embedded store: load, run, report (no Java, no Maven)
	$(VENV)/bin/steelyard bench embedded -w a --operations 300000

test: lint rust unit calibration live browser ## everything, the live tests included

$(VENV)/.dev: $(VENV)/.locked requirements-dev.lock
	$(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

rust: build      ## the engine's own tests
	cargo test --release --locked --quiet

unit: build $(VENV)/.dev ## Python tests that need no server
	$(PYTHON) -m pytest -q tests/unit -n 2

calibration: build $(VENV)/.dev ## the engine's percentiles and outcomes against servers with a known law
	$(PYTHON) -m pytest -q tests/calibration -n 2

live: build $(VENV)/.dev ## tests against real servers (needs Java 17 and Maven)
	$(VENV)/bin/steelyard doctor --fetch-java 11
	tests/live/install_sshd
	$(LIVE) -m beside -n 2 tests/live
	$(LIVE) -m "not beside" tests/live

browser: build $(VENV)/.dev ## pages in a real browser
	tests/browser/install_chromium
	$(PYTHON) -m pytest -q tests/browser

bench: build     ## our CQL driver beside its peers on a real node (needs Java and Maven; ARGS=--help)
	$(PYTHON) benches/cql_client.py $(ARGS)

lint: build $(VENV)/.dev ## formats, lints, types and layers; warnings are errors
	cargo fmt --all --check
	cargo clippy --release --locked --workspace --all-targets --quiet -- -D warnings
	$(VENV)/bin/ruff check --quiet python tests benches
	$(VENV)/bin/ruff format --check --quiet python tests benches
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo

format: build $(VENV)/.dev ## write the formats that lint asks for
	cargo fmt --all
	$(VENV)/bin/ruff check --fix --quiet python tests benches
	$(VENV)/bin/ruff format --quiet python tests benches

lock:            ## renew the lock files from requirements*.in (needs uv)
	for name in requirements requirements-fleet requirements-dev; do uv pip compile --quiet --generate-hashes --universal --no-annotate \
	  --no-header --allow-unsafe --python-version 3.11 $$name.in -o $$name.lock; done

clean:           ## remove what was built
	rm -rf $(VENV) target
