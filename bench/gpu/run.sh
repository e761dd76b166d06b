#!/usr/bin/env bash
# Verifies and measures this project on an NVIDIA GPU, and writes a report.
# bench/gpu/bundle puts it beside the programs that it runs.
#
#	./run.sh FOLDER     # writes FOLDER/report.md and the pictures
set -uo pipefail
out=${1:?usage: run.sh FOLDER}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
gunzip -f ./*.gz 2>/dev/null # as bundle packs the programs; the second time there are none
export GOPHERWARP_DEVICE=${GOPHERWARP_DEVICE:-cuda} # not the CPU, unless to try this script
report=$out/report.md
failures=0

say() { printf '%s\n' "$@" | tee -a "$report"; }

# run TITLE COMMAND: runs a command line, with its output in the report.
run() {
	say "" "## $1" "" '```' "\$ $2"
	timeout 300 bash -c "set -o pipefail; $2" 2>&1 | tee -a "$report"
	result=${PIPESTATUS[0]}
	say '```'
	verdict "$result" "$1 (exit code $result)"
}

# verdict STATUS WHAT: notes that something passed (0) or failed.
verdict() {
	if [ "$1" -eq 0 ]; then
		say "PASS $2"
	else
		say "FAIL $2"
		failures=$((failures + 1))
	fi
}

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

: >"$report"
say "# Gopherwarp on a GPU" "" "- commit: $(cat COMMIT)" "- date: $(date -u +%Y-%m-%dT%H:%MZ)" \
	"- GPU, driver, memory: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1)" \
	"- kernel, CPU: $(uname -r), $(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"

run "Devices" "./gopherwarp devices"
run "Doctor" "./gopherwarp doctor"
run "Conformance suite" "./selftest | tee '$out/selftest.txt' && ! grep -q skipped '$out/selftest.txt' && rm '$out/selftest.txt'"
run "Tests of the CUDA runtime" "./cuda.test -test.v | tee '$out/cuda.txt' | grep -E '^ *(---|ok|PASS|FAIL|panic)|_test.go' && awk -f skips.awk '$out/cuda.txt' && rm '$out/cuda.txt'"
run "Tests of prim" "./prim.test -test.v -test.run /cuda | tee '$out/prim.txt' | grep -E '^(---|ok|PASS|FAIL|panic)|--- FAIL' && ! grep -q -e '--- SKIP' -e '--- FAIL' '$out/prim.txt' && rm '$out/prim.txt'"
run "Benchmarks of the CUDA runtime" "./cuda.test -test.run NONE -test.bench 'GPU(Overlap|Launch|Graph|Synchronize)|GPUCopy.*/1GiB' -test.benchtime 0.5s"

run "hello" "./hello | tee '$out/hello.txt' && tail -n +2 '$out/hello.txt' | diff - hello.txt && rm '$out/hello.txt'"
run "multiply" "./multiply | tee '$out/multiply.txt' && tail -n 1 '$out/multiply.txt' | grep -q '^ok .*largest error 0$' && rm '$out/multiply.txt'"
run "normalize" "./normalize -n 10000000"
run "matmul" "./matmul -n 1024"
run "blur" "./blur -out '$out/blur.png'"
run "mandelbrot" "./mandelbrot -out '$out/mandelbrot.png'"

say "" "## Start of the process to the end of multiply's first kernel" "" \
	"\`./multiply -since \$(date +%s%N)\`, seven times, in ms; with and without the driver's cache of compiled PTX." ""
for cache in 1 0; do
	times=$(for _ in 1 2 3 4 5 6 7; do
		CUDA_CACHE_DISABLE=$cache ./multiply -since "$(date +%s%N)" |
			awk '/^first kernel done/ {t = $4; print t ~ /ms$/ ? t + 0 : t * 1000}'
	done)
	say "CUDA_CACHE_DISABLE=$cache: $(echo $times); median $(echo "$times" | median)"
	[ -n "$times" ] && echo "$times" | median | awk '{exit !($1 > 0 && $1 <= 450)}'
	verdict $? "median at most 450 ms"
done

say "" "## Vector add, 1<<28 float32" ""
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then
	run "Vector add without a peer (no nvcc here)" "./vectoradd"
else
	arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
	peer=$(mktemp -d)
	run "nvcc" "$nvcc --version | tail -n 2 && $nvcc -O3 -arch=$arch vectoradd.cu -o $peer/vectoradd-nvcc"
	say "" '```'
	for _ in 1 2 3 4 5; do
		./vectoradd | tee -a "$report" "$peer/ours"
		"$peer/vectoradd-nvcc" | tee -a "$report" "$peer/theirs"
	done
	say '```'
	ours=$(awk '{print $3}' "$peer/ours" | median)
	theirs=$(awk '{print $3}' "$peer/theirs" | median)
	say "medians of five runs of each, in turns: $ours ms here, $theirs ms by nvcc -O3 -arch=$arch"
	awk -v a="$ours" -v b="$theirs" 'BEGIN {printf "speed against nvcc: %.4f\n", b / a; exit !(a > 0 && b / a >= 0.98)}' | tee -a "$report"
	verdict "${PIPESTATUS[0]}" "at least 0.98 of nvcc's speed"
	rm -rf "$peer"
fi

run "Benchmark suite" "PATH=\$PATH:/usr/local/cuda/bin ./bench -unchecked unchecked.gob -json '$out/suite.json' -html '$out/suite.html' 2>/dev/null"

say "" "## Result" "" "$failures failures"
exit $((failures > 0))
