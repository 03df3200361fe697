# A fresh machine needs Python 3.10 to 3.12 and make.
VENV ?= .venv
EDITABLE ?= -e
# What is installed: the folders of the checkout, or wheels of them.
SOURCE ?= .
PIPELINES ?= ./pipelines/en_angel_mini ./pipelines/en_angel_bio
EXTRAS ?=
DIST ?= dist
BIN = $(VENV)/bin
# The first interpreter that runs and fits.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.10 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint docs install wheel install-check clean

demo: $(VENV)/.installed
	$(BIN)/spacy-angel link --pipeline en_angel_bio --file assets/demo.txt --html demo.html

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(SLOW),--slow)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

install: $(if $(EXTRAS),$(addprefix $(VENV)/.installed-,$(EXTRAS)),$(VENV)/.installed)

wheel: $(BIN)/python
	$(PIP) build
	$(BIN)/python -m build --outdir $(DIST)
	for pipeline in $(PIPELINES); do \
		$(BIN)/python -m build --wheel --outdir $(DIST) $$pipeline || exit; done

# What works without extras; `VENV` should be an environment that has none.
install-check: $(VENV)/.installed
	$(BIN)/python tools/install_check.py

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.10, 3.11 or 3.12 is needed, none was found." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# torch first and by version, see constraints.txt.
$(VENV)/.torch: constraints.txt | $(BIN)/python
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	touch $@

$(VENV)/.installed: setup.cfg $(VENV)/.torch
	$(PIP) $(foreach part,$(SOURCE) $(PIPELINES),$(EDITABLE) $(part))
	touch $@

$(VENV)/.installed-%: setup.cfg $(VENV)/.torch
	$(PIP) $(foreach part,$(SOURCE)[$*] $(PIPELINES),$(EDITABLE) "$(part)")
	touch $@

clean:
	rm -rf $(VENV) demo.html site dist $(addsuffix /build,. pipelines/*) $(addsuffix /*.egg-info,. pipelines/*)
