// Start measures the time from the start of a process to the first checked result of a kernel, side by
// side with the bare driver program that does the same, start.cu: it loads the PTX that this program
// embeds. Both run alternately, with the driver's cache of compiled PTX and without.
//
//	nvcc -O2 -o /tmp/bare bench/start/start.cu -ldl
//	go build -o /tmp/start ./bench/start && /tmp/start -peer /tmp/bare
//
// The peer looks for zadd.sm_70.narrow.coarse.ptx in its own folder. Without -peer it is one process: it prints when it had come how far, in ms since the time that
// -since gives.
package main
