# make demo, make test, make docs: all that a fresh machine needs is Python 3.10 to 3.12 and make.
VENV ?= .venv
EDITABLE ?= -e
# What is installed: the checkout, or a wheel of it.
SOURCE ?= .
EXTRAS ?=
# A number: of the extras, only the one whose turn it is, see tools/install_check.py.
TURN ?=
BIN = $(VENV)/bin
# The first interpreter that runs and fits.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.10 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

CHROMIUM ?= $(shell for p in chromium chromium-browser google-chrome; do \
	command -v $$p && break; done)

CRAFT ?=

.PHONY: demo screenshot service-screenshots ranker-pictures craft-example test lint docs install wheel \
	install-check clean

demo: $(VENV)/.installed
	$(BIN)/spacy-angel link --pipeline en_angel_bio --file assets/demo.txt --html demo.html

# The picture of the README: needs Chromium and asks nothing of the network.
screenshot: demo
	@test -n "$(CHROMIUM)" || { echo "Chromium is needed, none was found." >&2; exit 1; }
	mkdir -p docs/img
	profile=$$(mktemp -d) && $(CHROMIUM) --headless --no-sandbox --disable-gpu --disable-quic \
		--no-first-run --disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir=$$profile --hide-scrollbars --disable-lcd-text --window-size=1080,990 \
		--blink-settings=preferredColorScheme=1 --force-device-scale-factor=0.75 \
		--screenshot=$(CURDIR)/docs/img/demo.png file://$(CURDIR)/demo.html 2>/dev/null; \
		status=$$?; rm -rf $$profile; exit $$status

# The pictures of docs/how_to/service.md, likewise; playwright drives Chromium.
service-screenshots: $(VENV)/.installed-serve
	@test -n "$(CHROMIUM)" || { echo "Chromium is needed, none was found." >&2; exit 1; }
	$(PIP) playwright
	$(BIN)/python tools/service_screenshots.py --chromium $(CHROMIUM) -o docs/img

# Those of docs/notebook/ranker.md: $(DATA) is as for scripts/fit_ranker.py.
DATA ?= ../shared/data
ranker-pictures: $(VENV)/.installed
	$(BIN)/python benchmarks/nil_prior.py $(DATA) --pictures docs/img

# The commands of docs/how_to/adapt.md, from CRAFT's folder to the figures, half an hour on one core.
craft-example: $(VENV)/.installed-train
	@test -d "$(CRAFT)" || { echo "Give CRAFT's folder: make craft-example CRAFT=FOLDER" >&2; exit 1; }
	mkdir -p craft-example
	sed -n '/^```bash$$/,/^```$$/{/^```/!p;}' docs/how_to/adapt.md > craft-example/commands
	cd craft-example && CRAFT="$(abspath $(CRAFT))" PATH="$(abspath $(BIN)):$$PATH" bash -euxo pipefail commands

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(SLOW),--slow)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

install: $(if $(EXTRAS),$(addprefix $(VENV)/.installed-,$(EXTRAS)),$(VENV)/.installed)

wheel install-check:
	@test -n "$(PYTHON)" || { echo "Python 3.10, 3.11 or 3.12 is needed, none was found." >&2; exit 1; }
	$(PYTHON) tools/install_check.py $(if $(TURN),--turn $(TURN)) $(if $(WORK),--work $(WORK)) \
		$(if $(filter wheel,$@),--wheel)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.10, 3.11 or 3.12 is needed, none was found." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# torch first and by version, see constraints.txt.
$(VENV)/.torch: constraints.txt | $(BIN)/python
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	touch $@

$(VENV)/.installed: setup.cfg $(VENV)/.torch
	$(PIP) $(EDITABLE) $(SOURCE)
	touch $@

$(VENV)/.installed-%: setup.cfg $(VENV)/.torch
	$(PIP) $(EDITABLE) "$(SOURCE)[$*]"
	touch $@

clean:
	rm -rf $(VENV) demo.html site build dist *.egg-info
