package cpu

import "golang.org/x/sys/cpu"

// The compiler writes the vector code of kernels twice, for registers of so many lanes of 32 bits.
const (
	lanes512 = 16 // AVX-512 with its parts F, BW, DQ and VL, as all server processors of Intel since 2017 have it
	lanesAVX = 8  // AVX2 and FMA, as nearly all processors since 2013
)

// VectorLanes returns how many threads the vector code of kernels takes at once on this machine; 0 where it cannot run and
// their Go does all.
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
