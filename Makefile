# Everything runs in .venv, which is made when it is needed. `make help` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip --disable-pip-version-check install --quiet -c constraints.txt
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make locks" --constraint constraints.txt

.PHONY: help demo test test-thorough test-slow coverage equip check format docs messages site pictures peers corpus build locks audit images notes clean

help:  ## List what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/core.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

.venv/dev.stamp: .venv/core.stamp
	$(PIP) -e '.[dev]'
	@touch $@

demo: .venv/core.stamp  ## Aggregate the bundled votes and show what comes out.
	@$(BIN)/python examples/demo.py

test: check  ## Run every check and the unit tests.
	$(BIN)/pytest -q -n 2

test-thorough: equip  ## Run what make test leaves out: PostgreSQL, browsers, kills, clusters, copies of the project.
	$(BIN)/pytest -q -n 2 -m "thorough and not slow"

test-slow: equip  ## Run the tests that take minutes; those on real data need CROWDPILOT_DATA.
	$(BIN)/pytest -q -m slow

coverage: .venv/dev.stamp  ## Run the unit tests and show which lines of the package they reach; htmlcov/ has each file.
	$(BIN)/pytest -q -n 2 --cov=crowdpilot --cov-report=term:skip-covered --cov-report=html

equip: .venv/dev.stamp
	@$(BIN)/python -m tests.equip

check: .venv/dev.stamp
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/dev.stamp  ## Format the code and mend what can be mended.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: .venv/dev.stamp  ## Write docs/cli.md and the lists in other pages from the package.
	$(BIN)/typer crowdpilot.cli utils docs --name crowdpilot --title "Command line" --output docs/cli.md
	$(BIN)/python -m docs.hooks.generated

messages: .venv/dev.stamp  ## Bring the catalogues of the worker pages up to date with their sentences.
	$(BIN)/python -m scripts.messages

site: .venv/dev.stamp  ## Run every example of the docs and build the site into site/; a warning is an error.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

pictures: .venv/dev.stamp  ## Take the pictures that the docs show; needs chromium.
	$(BIN)/python -m docs.pictures

peers: .venv/core.stamp  ## Install the libraries we are measured against, and programs whose exports we read.
	$(BIN)/python -m benchmarks.peers

corpus: peers  ## Run these programs and write their exports into tests/io/corpus.
	$(BIN)/python -m scripts.corpus

build: .venv/dev.stamp  ## Build wheel, source archive and bill of materials into dist/, the same bytes every time.
	rm -rf dist
	env -u SOURCE_DATE_EPOCH $(BIN)/python -m hatchling build
	$(BIN)/python scripts/sbom.py locks/service.txt > "dist/crowdpilot-$$($(BIN)/python -m hatchling version).cdx.json"

locks: .venv/dev.stamp  ## Write locks/: all versions of the constraints with the digests of their files; needs the network.
	$(LOCK) --extra service pyproject.toml -o locks/service.txt
	$(LOCK) --extra service --extra learn pyproject.toml -o locks/service-learn.txt
	echo hatchling | $(LOCK) - -o locks/build.txt

audit: .venv/dev.stamp  ## Look for known vulnerabilities of what the service needs; needs the network.
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r locks/service.txt

images: .venv/core.stamp  ## Pin the images of Dockerfile and compose.yaml by digest; needs the network.
	$(BIN)/python scripts/pin_images.py

notes: .venv/core.stamp  ## Print the release notes of this version.
	@$(BIN)/python scripts/notes.py $(VERSION)

clean:  ## Remove .venv, .programs, the demo's files and all caches.
	rm -rf .venv .programs .cache htmlcov site demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find crowdpilot tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
