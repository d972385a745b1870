#!/usr/bin/env bash
# Installs what a Debian 12 machine needs to build, demonstrate and test sinkd.
#
#   deploy/setup.sh [STAGE]
#     build  the default: system packages, Rust and Node.js if missing, the CPU part of libtorch and the demo's
#            model in .venv, and the packages that build the page
#     client for building sinkctl alone: no libtorch, no Rust
#     cuda   the same, and the libraries that the CUDA part of libtorch links
#     image  for building container images: build, without the demo's model
#     test   all of it, plus the oracles of the tests, a browser for the tests of the page, Helm for those of the
#            chart, pandas and notebooks for those of the Python client, curl and grpcurl for those of the docs
#
# It can be run again at any time; if everything is installed, it ends within about a second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly stage=${1:-build}
readonly client_packages=(
  cmake ninja-build g++ pkg-config make git ccache mold
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libfmt-dev libcli11-dev nlohmann-json3-dev libssl-dev
  python3-venv python3-pip
)
readonly build_packages=(
  prometheus-cpp-dev libspdlog-dev libtomlplusplus-dev
  libboost-dev libboost-math-dev libsqlite3-dev libpq-dev libyaml-cpp-dev
  libgtest-dev libgmock-dev libbenchmark-dev
)
readonly rust_packages=(cargo-web rustc-web)
readonly node_packages=(nodejs npm)
# Prometheus runs the queries of the dashboards, and its promtool checks metrics and rules; PostgreSQL is one of the
# databases for runs; Chromium tests the page; clang builds the fuzz targets; buildah builds images on a base from
# debootstrap; the docs contain curl commands; tests use SQLite's shell, and nginx as the proxy of chart and compose.
readonly test_packages=(prometheus postgresql sqlite3 curl nginx-light chromium faketime openssl clang-16 libclang-rt-16-dev buildah debootstrap)
readonly libtorch=cmake/requirements.txt
readonly model=deploy/demo/requirements.txt
readonly oracles=tests/oracle/requirements.txt
readonly transformers5=tests/oracle/transformers5/requirements.txt
readonly client_tests=tests/python/requirements.txt
readonly chart=tests/helm/requirements.txt
readonly deployed=tests/deploy/requirements.txt
readonly chart_tools=tests/helm/tools
readonly constraints=cmake/constraints.txt
readonly venv=.venv
readonly page=server/http/page
readonly page_tests=tests/page

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Cargo.toml specifies the minimum Rust version.
has_rust() {
  PATH=$PATH:$HOME/.cargo/bin
  command -v cargo >/dev/null && command -v rustc >/dev/null || return 1
  local needed found
  needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' server/tokenizer/rust/Cargo.toml)
  found=$(rustc --version | cut -d' ' -f2)
  [[ $(printf '%s\n' "$needed" "${found%%-*}" | sort -V | head -n1) == "$needed" ]]
}

has_node() {
  command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

install_system_packages() {
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian; install the equivalents of: $* and Rust, then create $venv by hand"
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [[ $stage == client ]] || has_rust || missing+=("${rust_packages[@]}")
  has_node || missing+=("${node_packages[@]}")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "missing: ${missing[*]}. Run this as root, or install sudo, or install these yourself"
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
  # The tests run these programs themselves, so no servers should run on ports 9090, 5432 and 80.
  if [[ -d /run/systemd/system ]]; then
    for package in "${missing[@]}"; do
      case $package in
        prometheus | postgresql) as_root systemctl disable --quiet --now "$package" ;;
        nginx-light) as_root systemctl disable --quiet --now nginx ;;
      esac
    done
  fi
  [[ $stage == client ]] || has_rust || fail "Rust is still missing or too old: $(rustc --version 2>&1 || true)"
}

create_python_environment() {
  [[ -x $venv/bin/python ]] && "$venv/bin/python" -c '' 2>/dev/null && return
  say "creating $venv"
  python3 -m venv --clear "$venv"
}

# install_requirements NAME WHAT PIP_ARGUMENT...: once, until a pin changes.
install_requirements() {
  local stamp=$venv/.$1.sha256 hash argument files=("$constraints")
  for argument in "${@:3}"; do
    [[ ! -f $argument ]] || files+=("$argument")
  done
  hash=$(cat "${files[@]}" | sha256sum | cut -d' ' -f1)
  [[ ! -f $stamp || $(<"$stamp") != "$hash" ]] || return 0
  say "installing $2 into $venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c "$constraints" "${@:3}"
  printf '%s\n' "$hash" >"$stamp"
}

# transformers 5 next to version 4 in .venv, once, until a pin changes. It pins all of its dependencies, some of them
# contrary to the constraints.
install_transformers5() {
  local target=$venv/transformers-5 hash
  hash=$(sha256sum <"$transformers5" | cut -d' ' -f1)
  [[ ! -f $target/.sha256 || $(<"$target/.sha256") != "$hash" ]] || return 0
  say "installing transformers 5 into $target (20 MB to download)"
  rm -rf "$target"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --target "$target" -r "$transformers5"
  printf '%s\n' "$hash" >"$target/.sha256"
}

# What the Python client is built and tested with, once, until a pin changes. It is an environment of its own,
# because users of the client have neither torch nor transformers.
install_client_environment() {
  local target=$venv/client hash
  hash=$(cat "$client_tests" "${client_tests%/*}/constraints.txt" | sha256sum | cut -d' ' -f1)
  [[ ! -f $target/.sha256 || $(<"$target/.sha256") != "$hash" ]] || return 0
  say "installing what the Python client is tested with into $target (0.2 GB to download)"
  python3 -m venv --clear "$target"
  "$target/bin/python" -m pip install --quiet --disable-pip-version-check \
    -c "${client_tests%/*}/constraints.txt" -r "$client_tests"
  printf '%s\n' "$hash" >"$target/.sha256"
}

# install_node_packages FOLDER WHAT: into FOLDER/node_modules, once, until its lock file changes.
install_node_packages() {
  local stamp=$1/node_modules/.sha256 hash
  hash=$(sha256sum <"$1/package-lock.json" | cut -d' ' -f1)
  [[ ! -f $stamp || $(<"$stamp") != "$hash" ]] || return 0
  say "installing $2 into $1/node_modules"
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null || return 1
  printf '%s\n' "$hash" >"$stamp"
}

# Helm, its test runner and grpcurl, into .venv/bin, once, until a pin changes. Helm needs a version at build time, or it
# assumes Kubernetes 1.20 for every cluster.
install_chart_tools() {
  local stamp=$venv/.chart.sha256 scratch=$PWD/$venv/.go hash
  local version=helm.sh/helm/v3/pkg/chartutil.k8sVersion
  hash=$(cat "$chart_tools"/go.{mod,sum} | sha256sum | cut -d' ' -f1)
  [[ ! -f $stamp || $(<"$stamp") != "$hash" ]] || return 0
  say "building Helm and grpcurl into $venv (0.2 GB to download)"
  GOBIN=$PWD/$venv/bin GOMODCACHE=$scratch/modules GOCACHE=$scratch/cache GOFLAGS="" GOTOOLCHAIN=local \
    "$venv/bin/go" -C "$chart_tools" install -modcacherw -buildvcs=false -trimpath \
    -ldflags "-s -w -X ${version}Major=1 -X ${version}Minor=33" tool 2> >(sed "/^go: downloading/d" >&2)
  rm -rf "$scratch"
  printf '%s\n' "$hash" >"$stamp"
}

set_up_build() {
  install_system_packages "${client_packages[@]}" "${build_packages[@]}"
  create_python_environment
  # torch's dependencies serve only its Python and CUDA parts.
  install_requirements build "libtorch and the demo's model (0.6 GB to download)" \
    --no-deps -r "$libtorch" -r "$model"
  install_node_packages $page "what the page is built with (25 MB to download)" ||
    say "that failed: sinkd will be built without its page"
}

set_up_client() {
  install_system_packages "${client_packages[@]}"
  create_python_environment
  install_requirements client "the protocol's common messages" --no-deps googleapis-common-protos
  install_node_packages $page "what the page is built with (25 MB to download)" ||
    say "that failed: sinkctl will be built without \`report\`"
}

set_up_image() {
  install_system_packages "${client_packages[@]}" "${build_packages[@]}"
  create_python_environment
  install_requirements image "libtorch (0.5 GB to download)" --no-deps -r "$libtorch"
  install_node_packages $page "what the page is built with (25 MB to download)" || fail "that failed"
}

set_up_cuda() {
  set_up_build
  install_requirements cuda "what libtorch's CUDA half links (2.2 GB to download)" -r "$libtorch"
}

set_up_test() {
  set_up_build
  install_system_packages "${test_packages[@]}"
  install_requirements test "the oracles, and all of libtorch for them (2.4 GB to download)" \
    -r "$libtorch" -r "$oracles" -r "$chart" -r "$deployed"
  install_transformers5
  install_client_environment
  install_chart_tools
  [[ -d $page/node_modules ]] || fail "the page's packages are missing"
  install_node_packages $page_tests "what the page is tested with (5 MB to download)" || fail "that failed"
}

case $stage in
  build | client | cuda | image | test) "set_up_$stage" ;;
  *) fail "no stage '$stage'; there are build, client, cuda, image and test" ;;
esac
say "ready"
