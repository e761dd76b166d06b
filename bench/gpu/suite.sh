#!/usr/bin/env bash
# Measures the whole suite on an NVIDIA GPU beside all peers that are installed, and writes a table, JSON and a page.
# bench/gpu/bundle-suite puts it beside the programs that it runs.
#
#	./run.sh FOLDER [FLAGS OF gopherwarp bench]     # writes FOLDER/suite.txt, suite.json and suite.html
set -uo pipefail
out=${1:-${OUT:-report}}
shift || true
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
export GOPHERWARP_DEVICE=cuda PATH=$PATH:/usr/local/cuda/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xJf suite.tar.xz || python3 -c "import sys, tarfile; tarfile.open('suite.tar.xz').extractall(sys.argv[1])" "$work" || exit 1
cd "$work"

began=$SECONDS
add=()
[ -f compile.json ] && add+=(-add compile.json)
if command -v nvcc >/dev/null; then
	nvcc -O2 -o bare start.cu -ldl & # see start.cu and bench/launch
	nvcc -O3 -shared -Xcompiler -fPIC -o launch.so launch.cu -lcublas -lcufft -ldl &
	wait
	./start -peer ./bare -json start.json && add+=(-add start.json)
	./launch -peer ./launch.so -json launch.json && add+=(-add launch.json)
fi
echo "start and launch: $((SECONDS - began)) s"

./bench -commit "$(cat COMMIT)" -unchecked unchecked.gob "${add[@]}" -json "$out/suite.json" -html "$out/suite.html" "$@" >"$out/suite.txt" \
	2> >(while read -r line; do echo "$((SECONDS - began)) s: $line"; done >"$out/suite.log")
result=$?
cat "$out/suite.txt"
echo "exit code $result after $((SECONDS - began)) s"
exit $result
