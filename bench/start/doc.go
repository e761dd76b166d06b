// Start measures the time from the start of a process to the first checked result of a kernel, side by
// side with the bare driver program that does the same, start.cu: it loads the PTX of this program
// from add.ptx in its own folder. Both run alternately, with the driver's cache of compiled PTX and without.
//
//	nvcc -O2 -o /tmp/bare bench/start/start.cu -ldl && go run ./bench/start/ptx /tmp/add.ptx
//	go build -o /tmp/start ./bench/start && /tmp/start -peer /tmp/bare
//
// Without -peer Start is one process: it prints how many ms after the time of -since it reached each phase.
package main
