# make demo    build, run the first scenario, show its table and captures (installs what is missing)
# make test    everything that CI checks
# make bench   the comparisons with ns-2, and the speed; see bench/README.md
# make docs    write the generated pages of docs/reference

export PATH := $(HOME)/.cargo/bin:$(PATH)
SHELL := /bin/sh
TARGET := $(or $(CARGO_TARGET_DIR),target)
WAYHOP := $(TARGET)/release/wayhop
DEMO_RUN := runs/demo

# How long `make test` runs each fuzz target; 0 leaves them out. CI takes 20.
FUZZ_SECONDS ?= 0

.PHONY: demo test bench docs build install-demo install-test install-bench

demo: install-demo build
	rm -rf $(DEMO_RUN)
	$(WAYHOP) run scenarios/first.toml --captures --out $(DEMO_RUN)
	@echo
	@echo "Captures, one per node, for Wireshark or tshark: $(DEMO_RUN)/captures/"
	@echo "Routing messages as JSON:                        $(WAYHOP) decode $(DEMO_RUN)/captures/NODE.pcapng"
	@echo "Your own ns-2 files:                             $(WAYHOP) run --movement M.tcl --traffic T.tcl --protocol dsr"

test: install-test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo xtask check
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	cd bench && python3 -m unittest --quiet
	[ $(FUZZ_SECONDS) -eq 0 ] || fuzz/run-all $(FUZZ_SECONDS)
	cargo test --workspace

bench: install-bench build
	python3 bench/compare_ns2.py
	python3 bench/mac.py
	python3 bench/speed.py
	python3 bench/scaling.py

docs:
	cargo xtask docs

build:
	cargo build --release --package wayhop-cli

install-demo install-test install-bench:
	.ci/install $(@:install-%=%)
