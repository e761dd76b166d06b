// Package cpu holds kernels whose speed on the CPU is measured, beside plain Go that does
// the same. The kernels are ordinary ones: nothing in them is made for the CPU.
//
//	go test -bench . ./bench/cpu
package cpu
