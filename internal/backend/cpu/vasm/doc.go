// Package vasm writes functions in Go's assembly language for amd64 with AVX-512 or AVX2, from instructions
// on registers without number. It allocates registers, and knows nothing of what the code means.
//
//	f := vasm.New(&vasm.AVX512)
//	n := f.Param("n", vasm.Int)
//	x := f.Reg(vasm.Vector)
//	f.Op("VADDPS", vasm.Use(y), vasm.Use(z), vasm.Def(x))
//	text, err := f.Text()
//
// Operands stand in the order of Go's assembler: what is written comes last. All
// instructions of a function are known before the first is printed; where there are not enough
// registers, a value lives in the frame.
package vasm
