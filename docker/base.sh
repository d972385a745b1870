#!/usr/bin/env bash
# Makes the base image from Debian packages with debootstrap and buildah, without an image registry. Runs as root; for
# docker/check.sh.
#
#   docker/base.sh NAME
set -euo pipefail

readonly name=$1 suite=bookworm mirror=http://deb.debian.org
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase "$suite" "$root" "$mirror/debian" >/dev/null
cat >"$root/etc/apt/sources.list" <<END
deb $mirror/debian $suite main
deb $mirror/debian $suite-updates main
deb $mirror/debian-security $suite-security main
END
# Debian's slim images omit these too.
rm -rf "$root"/var/{cache/apt/*,lib/apt/lists/*,log/*} "$root"/usr/share/{doc,man,info,locale}/*
cat >"$root/etc/dpkg/dpkg.cfg.d/slim" <<END
path-exclude /usr/share/doc/*
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-include /usr/share/doc/*/copyright
END

echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"

container=$(buildah from scratch)
buildah add "$container" "$root" / >/dev/null
buildah config --cmd /bin/bash "$container"
buildah commit --rm "$container" "$name" >/dev/null
