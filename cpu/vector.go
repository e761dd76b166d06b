package cpu

import "golang.org/x/sys/cpu"

// The compiler generates the vector code of kernels twice, for registers with these numbers of
// 32-bit lanes.
const (
	lanes512 = 16 // AVX-512 F, BW, DQ and VL, as in all Intel server processors since 2017
	lanesAVX = 8  // AVX2 and FMA, as in nearly all processors since 2013, which also have F16C
)

// VectorLanes returns the number of threads that the vector code of kernels runs at a time on this
// machine, or 0 if the machine cannot run vector code; kernels then run as plain Go.
func VectorLanes() int {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return lanes512
	case hasAVX2():
		return lanesAVX
	}
	return 0
}

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }
