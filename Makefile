# make demo    build, run the first scenario, show its table and captures (installs what is missing)
# make check   what to run while working: format, clippy, the checks of xtask, unit tests
# make test    everything that CI checks
# make web     of these, what tests the studio's page
# make bench   the comparisons with ns-2, and the speed; see bench/README.md
# make site    the documentation as a web site, in site/VERSION; fails on a broken link
# make docs    write the generated pages of docs/reference
# make reproductions   run every reproduction that needs no root, and write docs/reference/reproductions.md

export PATH := $(CURDIR)/target/node/bin:$(HOME)/.cargo/bin:$(PATH)
SHELL := /bin/sh
TARGET := $(or $(CARGO_TARGET_DIR),target)
WAYHOP := $(TARGET)/demo/wayhop
DEMO_RUN := runs/demo

# How long `make test` runs each fuzz target; 0 leaves them out. CI takes 5.
FUZZ_SECONDS ?= 0
# Slots for tests, six a processor: see .config/nextest.toml.
TEST_SLOTS := $(shell expr 6 \* $$(nproc))
WEB_LOG := $(TARGET)/web.log
# A system that is not Linux, where the simulator without its Linux parts has to compile. Debian's own compiler has no rustup; with it,
# what talks to the kernel is compiled for the static program's C library (musl), too. (Paths, and so errors, are larger on Windows.)
ELSEWHERE := $(shell command -v rustup >/dev/null && echo --target x86_64-pc-windows-gnu)

.PHONY: demo check test web bench docs site reproductions build install-demo install-test install-bench install-site

demo: install-demo
	cargo build --profile demo --package wayhop-cli
	rm -rf $(DEMO_RUN)
	$(WAYHOP) run scenarios/first.toml --captures --out $(DEMO_RUN)
	@echo
	@echo "Captures, one per node, for Wireshark or tshark: $(DEMO_RUN)/captures/"
	@echo "Routing messages as JSON:                        $(WAYHOP) decode $(DEMO_RUN)/captures/NODE.pcapng"
	@echo "Your own ns-2 files:                             $(WAYHOP) run --movement M.tcl --traffic T.tcl --protocol dsr"

check: install-test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo nextest run --profile check --workspace --lib --test clippy_bans --test-threads $(TEST_SLOTS)
	$(TARGET)/debug/xtask check

test: install-test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package wayhop-cli --no-default-features $(ELSEWHERE) -- -D warnings -A clippy::result_large_err
	$(if $(ELSEWHERE),cargo check --package wayhop-lab --target x86_64-unknown-linux-musl)
	cargo fetch --locked --quiet
	cargo deny --offline check -D warnings licenses bans sources
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	cd bench && python3 -m unittest --quiet
	$(MAKE) site
	cargo nextest run --workspace --no-run
	$(TARGET)/debug/xtask check
	[ $(FUZZ_SECONDS) -eq 0 ] || fuzz/run-all $(FUZZ_SECONDS)
	cargo test --workspace --doc --quiet
	@# The page's browsers mostly wait: beside the other tests.
	$(MAKE) web WAYHOP_BUILD=: > $(WEB_LOG) 2>&1 & web=$$!; \
	cargo nextest run --workspace --test-threads $(TEST_SLOTS); tests=$$?; \
	wait $$web; page=$$?; cat $(WEB_LOG); exit $$((tests + page))

# The studio's page: that it is what its sources give, its unit tests, and the page in a browser. (For `make test` the command is
# there: the tests' own, with the features of the whole workspace.)
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
