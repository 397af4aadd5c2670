#!/usr/bin/env bash
# Makes a toolchain folder whose compiler has a wasm32-wasip2 standard library, out of Debian packages.
#
#   debian-wasi-toolchain.sh DIR      then: RUSTC=DIR/bin/rustc DIR/bin/cargo build --target wasm32-wasip2
#
# For machines that reach Debian's packages and the crate registry, but not the downloads of rustup.
# Elsewhere `rustup target add wasm32-wasip2` does all this; `cargo xtask guests` tries that first.
#
# Nothing of the user's rustup is changed: the folder is no linked toolchain, it is named by RUSTC. Its
# compiler is Debian's `rustc-web`, newer than the one of the distribution; the linkers `rust-lld` and
# `wasm-component-ld` come from the default toolchain, and are found through the folder's sysroot.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
TARGET=wasm32-wasip2
die() { echo "debian-wasi-toolchain: $*" >&2; exit 1; }

mkdir -p "${1:?usage: debian-wasi-toolchain.sh DIR}"
DIR=$(cd "$1" && pwd)
# Two clones may want it at once.
exec 9>"$DIR/.lock"
flock 9

need=()
[ -x /usr/bin/rustc ] || need+=(rustc-web)
[ -x /usr/bin/cargo ] || need+=(cargo-web)
[ -e /usr/lib/rustlib/src/rust/library/Cargo.toml ] || need+=(rust-web-src)
[ -e /usr/lib/wasm32-wasi/libc.a ] || need+=(wasi-libc)
command -v ar >/dev/null || need+=(binutils)
if [ ${#need[@]} -gt 0 ]; then
  list="${need[*]}"
  command -v apt-get >/dev/null || die "needs the Debian packages $list, and there is no apt-get here"
  [ "$(id -u)" = 0 ] || die "needs Debian packages; as root: apt-get install --no-install-recommends $list"
  export DEBIAN_FRONTEND=noninteractive
  apt=(apt-get -qq -o DPkg::Lock::Timeout=300)
  if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${need[@]}"; } >"$DIR/apt.log" 2>&1; then
    tail -n 20 "$DIR/apt.log" >&2
    die "apt-get can't install $list; its message is above, and all of it in $DIR/apt.log"
  fi
fi

# A new compiler, other stubs or another recipe make the folder anew; else there is nothing to do.
SYSROOT=$(env -u RUSTC -u RUSTC_WRAPPER rustc --print sysroot)
STAMP="$(/usr/bin/rustc -V) $SYSROOT $(cat "$HERE"/wasi-*.rs "$0" | sha256sum | cut -c1-12)"
[ "$(cat "$DIR/.stamp" 2>/dev/null)" != "$STAMP" ] || exit 0
rm -f "$DIR/.stamp"

HOST=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
LINKERS=$SYSROOT/lib/rustlib/$HOST/bin
for tool in rust-lld wasm-component-ld; do
  [ -x "$LINKERS/$tool" ] || die "the default toolchain has no $tool ($LINKERS); install Rust with rustup"
done

# 1. The standard library, once. Debian's own source, since that of another compiler version fails to build.
BUILD=$DIR/.build
rm -rf "$BUILD"
mkdir -p "$BUILD/src"
printf '%s\n' '[package]' 'name = "sysroot-probe"' 'edition = "2021"' '[workspace]' '[profile.release]' 'panic = "abort"' \
  > "$BUILD/Cargo.toml"
echo '#![no_std]' > "$BUILD/src/lib.rs"
# Whoever calls this from cargo has its variables set, and they mean another compiler.
unset RUSTUP_TOOLCHAIN CARGO RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
( cd "$BUILD"
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Cembed-bitcode=yes" CARGO_TARGET_DIR="$BUILD/target" \
    /usr/bin/cargo build -q --release --target $TARGET -Zbuild-std=std,panic_abort )

# 2. The folder: Debian's compiler and host libraries, our target libraries, rustup's linkers.
LIB=$DIR/lib/rustlib/$TARGET/lib
rm -rf "$DIR/lib" "$DIR/bin"
mkdir -p "$LIB/self-contained" "$DIR/bin" "$DIR/lib/rustlib/$HOST/bin"
cp "$BUILD/target/$TARGET"/release/deps/*.rlib "$LIB/"
rm -f "$LIB"/libsysroot_probe*.rlib
rm -rf "$BUILD"
ln -s "/usr/lib/rustlib/$HOST/lib" "$DIR/lib/rustlib/$HOST/lib"
ln -s /usr/lib/rustlib/src "$DIR/lib/rustlib/src"
ln -s "$LINKERS/rust-lld" "$LINKERS/wasm-component-ld" "$DIR/lib/rustlib/$HOST/bin/"
printf '#!/bin/sh\nexec /usr/bin/rustc --sysroot "%s" "$@"\n' "$DIR" > "$DIR/bin/rustc"
chmod +x "$DIR/bin/rustc"
ln -s /usr/bin/cargo "$DIR/bin/cargo"

# 3. The C library. Debian's wasi-libc is of 2022: it gets another start file, and stubs for what std wants
#    and it lacks. A later compiler may want one more stub; the error of the linker names it.
cp /usr/lib/wasm32-wasi/{crt1-reactor.o,libc.a} "$LIB/self-contained/"
for part in crt1 shim; do
  RUSTC_BOOTSTRAP=1 "$DIR/bin/rustc" --target $TARGET --edition 2021 --crate-type lib --emit obj \
    -O -Cpanic=abort -Ccodegen-units=1 "$HERE/wasi-$part.rs" -o "$DIR/wasi-$part.o"
done
mv "$DIR/wasi-crt1.o" "$LIB/self-contained/crt1-command.o"
ar qS "$LIB/self-contained/libc.a" "$DIR/wasi-shim.o"
rm "$DIR/wasi-shim.o"
echo "$STAMP" > "$DIR/.stamp"
