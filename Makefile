# make demo    build, run the first scenario, show its table and captures (installs what is missing)
# make check   what to run while working: format, clippy, the checks of xtask, unit tests
# make test    every test: Rust, Python, the studio's page in a browser, the benchmarks' scripts
# make lint    format, clippy on all systems, licences, documentation and its site; CI runs it beside the tests: `make test WITH_LINT=yes`
# make web     of these, what tests the studio's page (installs nothing: .ci/install test, .ci/install fixtures)
# make bench   the comparisons with ns-2, and the speed; see bench/README.md
# make site    the documentation as a web site, in site/VERSION; fails on a broken link
# make ns3     the libraries that run ns-3's routing models; see ns3/README.md
# make docs    write the generated pages of docs/reference
# make reproductions   run every reproduction that needs no root, and write docs/reference/reproductions.md

export PATH := $(CURDIR)/target/node/bin:$(HOME)/.cargo/bin:$(PATH)
SHELL := /bin/sh
TARGET := $(or $(CARGO_TARGET_DIR),target)
WAYHOP := $(TARGET)/demo/wayhop
DEMO_RUN := runs/demo

# How long `make test` runs each fuzz target; 0 leaves them out. CI takes 5.
FUZZ_SECONDS ?= 0
# Whether `make test` runs `make lint` beside the tests.
WITH_LINT ?=
# Slots for tests, eight a processor: see .config/nextest.toml.
TEST_SLOTS := $(shell expr 8 \* $$(nproc))
# A system that is not Linux, where the simulator without its Linux parts has to compile. Debian's own compiler has no rustup; with it,
# what talks to the kernel is compiled for the static program's C library (musl), too. (Paths, and so errors, are larger on Windows.)
ELSEWHERE := $(shell command -v rustup >/dev/null && echo --target x86_64-pc-windows-gnu)

.PHONY: demo check lint lint-format lint-clippy lint-licences lint-elsewhere lint-doc test test-web test-python test-doc web bench docs ns3 site reproductions build install-demo install-test install-bench install-site

demo: install-demo
	cargo build --profile demo --package wayhop-cli
	rm -rf $(DEMO_RUN)
	$(WAYHOP) run scenarios/first.toml --captures --out $(DEMO_RUN)
	@echo
	@echo "Captures, one per node, for Wireshark or tshark: $(DEMO_RUN)/captures/"
	@echo "Routing messages as JSON:                        $(WAYHOP) decode $(DEMO_RUN)/captures/NODE.pcapng"
	@echo "Your own ns-2 files:                             $(WAYHOP) run --movement M.tcl --traffic T.tcl --protocol dsr"

check: lint-format lint-clippy
	cargo nextest run --profile check --workspace --lib --test clippy_bans --test-threads $(TEST_SLOTS)
	$(TARGET)/debug/xtask check

# A target each: with --keep-going, what one finds does not hide what the others would.
lint: lint-format lint-clippy lint-licences lint-elsewhere lint-doc site

lint-format: install-test
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check

lint-clippy: install-test
	cargo clippy --workspace --all-targets -- -D warnings

lint-licences: install-test
	cargo fetch --locked --quiet
	cargo deny --offline check -D warnings licenses bans sources

lint-elsewhere: install-test
	cargo clippy --package wayhop-cli --no-default-features $(ELSEWHERE) -- -D warnings -A clippy::result_large_err
	$(if $(ELSEWHERE),cargo check --package wayhop-lab --target x86_64-unknown-linux-musl)

lint-doc: install-test
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# What the tests use and no compiler needs is installed while the workspace is compiled. What needs no clock runs while tests wait: Python,
# the tests in documentation, and the lints if they are wanted. For that, the tests run from the list of what was built, and leave cargo's
# lock to them.
# The library of Python's tests is none of Rust's, and is built with the same features as these.
# What would make the next compilation faster makes this one slower, and changes the counts of instructions.
test: export CARGO_INCREMENTAL := 0
# A busy machine may need longer than the usual 10 s to start Python and load a module.
test: export WAYHOP_CALL_LIMIT_S := 60
test: install-test
	mkdir -p $(TARGET)
	@# A shell without a terminal lets what runs in the background ignore Ctrl-C.
	trap 'kill $$fixtures; exit 130' INT TERM; \
	.ci/install fixtures >$(TARGET)/fixtures.log 2>&1 & fixtures=$$!; \
	cargo fetch --locked --quiet && \
	cargo nextest list --workspace --list-type binaries-only --message-format json >$(TARGET)/binaries.json && \
	cargo build --quiet --workspace --tests --lib; built=$$?; \
	wait $$fixtures || { cat $(TARGET)/fixtures.log; exit 1; }; exit $$built
	$(TARGET)/debug/xtask check
	[ $(FUZZ_SECONDS) -eq 0 ] || fuzz/run-all $(FUZZ_SECONDS)
	cargo metadata --format-version 1 >$(TARGET)/metadata.json
	trap 'kill $$web $$python $$cargo; exit 130' INT TERM; \
	$(MAKE) test-web >$(TARGET)/web.log 2>&1 & web=$$!; \
	nice $(MAKE) test-python >$(TARGET)/python.log 2>&1 & python=$$!; \
	CARGO_TERM_QUIET=true nice $(MAKE) --keep-going $(if $(WITH_LINT),lint) test-doc >$(TARGET)/cargo.log 2>&1 & cargo=$$!; \
	cargo nextest run --binaries-metadata $(TARGET)/binaries.json --cargo-metadata $(TARGET)/metadata.json \
		--test-threads $(TEST_SLOTS); tests=$$?; \
	wait $$web; tests=$$((tests + $$?)); cat $(TARGET)/web.log; \
	wait $$python; tests=$$((tests + $$?)); cat $(TARGET)/python.log; \
	wait $$cargo; tests=$$((tests + $$?)); cat $(TARGET)/cargo.log; exit $$tests

# The command is there: the tests' own, with the features of the whole workspace.
test-web:
	$(MAKE) web WAYHOP_BUILD=:

test-python:
	cd bench && python3 -m unittest --quiet
	python3 bench/instructions.py $(TARGET)/debug/wayhop
	python3 -m unittest discover --quiet --start-directory python/tests
	python/test $(TARGET)/debug/wayhop

test-doc:
	cargo test --workspace --doc --quiet

# The studio's page: that it is what its sources give, its unit tests, and the page in a browser.
WAYHOP_BUILD ?= cargo build --package wayhop-cli
web:
	cd web && npm ci --no-audit --no-fund --loglevel=error
	cd web && npm run --silent check && npm run --silent test
	$(WAYHOP_BUILD)
	cd web && WAYHOP=$(abspath $(TARGET))/debug/wayhop npm run --silent e2e

bench: install-bench build
	python3 bench/compare_ns2.py
	python3 bench/mac.py
	python3 bench/speed.py
	python3 bench/scaling.py

docs:
	cargo xtask docs

ns3:
	$(MAKE) -C ns3

site: install-site
	target/mkdocs/bin/python3 -m unittest discover --quiet --start-directory packaging/site
	NO_MKDOCS_2_WARNING=1 target/mkdocs/bin/mkdocs build --strict
	@echo "To read it: python3 -m http.server --directory site"

reproductions: build
	python3 bench/reproductions.py

build:
	cargo build --profile dist --package wayhop-cli

install-demo install-test install-bench install-site:
	.ci/install $(@:install-%=%)
