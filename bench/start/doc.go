// Start measures the time from the start of a process to the first checked result of a kernel. It compares itself
// with start.cu, a program that does the same with the driver alone. That program loads the PTX of Start's kernel from
// the file add.ptx in its own folder. Both run alternately, with the driver's cache of compiled PTX and without it.
//
//	nvcc -O2 -o /tmp/bare bench/start/start.cu -ldl && go run ./bench/start/ptx /tmp/add.ptx
//	go build -o /tmp/start ./bench/start && /tmp/start -peer /tmp/bare
//
// Without -peer, Start runs once. It prints the time at which each phase ended, in ms after the time that -since gives.
package main
