# Everyday commands; `make` lists them. PRESET=dev|release|asan|tsan chooses the build.
PRESET ?= dev
JOBS ?= $(shell nproc)
CLANG_FORMAT ?= clang-format-16
# Benchmarks are built with optimization whatever PRESET is.
BENCH_BUILD := build/bench

CPP_FILES = git ls-files '*.cc' '*.h'

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup oracles configure build test check-numerics fuzz demo client bench images check-images check-newcomer format lint clean

help: ## list these commands
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

setup: ## install what building and the demo need and is missing (root or sudo)
	@deploy/setup.sh build

oracles: ## install what the tests need beside that
	@deploy/setup.sh test

configure: setup
	@cmake --preset $(PRESET) $(if $(wildcard build/$(PRESET)/build.ninja),--log-level=WARNING)

build: configure ## build server, client and tests into build/dev, or build/PRESET
	@cmake --build --preset $(PRESET) --parallel $(JOBS)

test: oracles build ## build and run every test
	@ctest --preset $(PRESET) --parallel $(JOBS)

check-numerics: oracles build ## run the tests that compare numbers as other processors compute them
	@ctest --preset $(PRESET) -L oracle --quiet --output-on-failure
	@tests/numerics/check.sh build/$(PRESET)

fuzz: oracles ## fuzz every target, or TARGET, for ten minutes each, or MINUTES
	@cmake --preset fuzz --log-level=WARNING
	@cmake --build --preset fuzz --parallel $(JOBS)
	@SECONDS_EACH=$$((60 * $(or $(MINUTES),10))) tests/fuzz/run.sh build/fuzz $(TARGET)

demo: configure ## build server and client, and run them on real prompts; KEEP=1 leaves the server up
	@cmake --build --preset $(PRESET) --parallel $(JOBS) --target sinkd sinkctl
	@KEEP='$(KEEP)' deploy/demo/run.sh build/$(PRESET)

client: ## build sinkctl alone, one static program for any x86-64 Linux: build/client/sinkctl
	@deploy/setup.sh client
	@cmake --preset release -B build/client -DSINKD_CLIENT_ONLY=ON --log-level=WARNING
	@cmake --build build/client --parallel $(JOBS) --target sinkctl_static
	@cp build/client/client/cli/sinkctl_static build/client/sinkctl && strip build/client/sinkctl
	@printf '%s: ' build/client/sinkctl && build/client/sinkctl --version

bench: oracles ## build and run the benchmarks, docs/benchmarks.md; QUICK=1: a first look
	@cmake --preset release -B $(BENCH_BUILD) -DSINKD_BUILD_TESTS=ON -DSINKD_BUILD_BENCHMARKS=ON --log-level=WARNING \
	  '-DSINKD_BENCH_ARGUMENTS=$(if $(QUICK),--quick,--write;docs/benchmarks.md)'
	@cmake --build $(BENCH_BUILD) --parallel $(JOBS) --target bench

images: ## build the container images sinkd and sinkctl with docker, podman or buildah
	@docker/build.sh

check-images: oracles ## build them on a base of their own with buildah, as root, and try them
	@docker/check.sh

check-newcomer: ## run what README begins with on a bare Debian root, as root, and tell times and downloads
	@tests/newcomer/check.sh

format: ## rewrite C++ and Rust files in the project's format
	@$(CPP_FILES) | xargs $(CLANG_FORMAT) -i
	@cd server/tokenizer/rust && cargo fmt

lint: ## check formats without changing anything
	@$(CPP_FILES) | xargs $(CLANG_FORMAT) --dry-run -Werror
	@cd server/tokenizer/rust && cargo fmt --check
	@git ls-files '*.sh' .ci/run | xargs -n1 bash -n
	@git ls-files '*.py' | xargs python3 -m py_compile

clean: ## remove builds and the demo's models; .venv stays
	rm -rf build .demo
