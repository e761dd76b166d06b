package cpu

import "golang.org/x/sys/cpu"

// VectorLanes returns how many threads the vector code of kernels takes at once on this machine; 0 where it cannot run and
// their Go does all. The compiler writes it for AVX-512 as all server processors since 2017 have it.
func VectorLanes() int {
	if x := cpu.X86; x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
		return 16
	}
	return 0
}
