#!/usr/bin/env bash
# Lints the protocol by the rules of proto/buf.yaml, with google/rpc beside it as buf wants it.
#   lint.sh BUF PROTO_DIR GOOGLE_ROOT     GOOGLE_ROOT: the folder that holds google/rpc
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$2"/. "$work"
mkdir -p "$work/google/rpc"
cp "$3/google/rpc/status.proto" "$work/google/rpc"
sed -i 's|^  ignore:|  ignore:\n    - google/rpc|' "$work/buf.yaml"
cd "$work"
"$1" lint
