// Package units writes the instructions of processors' vector units, AVX-512 and AVX2, for package cpu.
//
//	for _, unit := range units.All() {
//		a := unit()
//		a.Unit.Load(at, mask, x, units.Element{Size: 4}) // neighbouring elements into the lanes of x
//		a.Unit.Binary(ir.OpFAdd, units.Pair{X: x, Y: y, To: z})
//	}
//
// A Unit knows lanes, masks and memory; it knows neither kernels nor threads. Package vasm assigns the registers and
// writes the text.
package units
