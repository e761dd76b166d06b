// Package vasm writes functions in Go's assembly language for amd64 with AVX-512 or AVX2, from instructions
// on virtual registers. It allocates registers and does not interpret the code.
//
//	f := vasm.New(&vasm.AVX512)
//	n := f.Param("n", vasm.Int)
//	x := f.Reg(vasm.Vector)
//	f.Op("VADDPS", vasm.Use(y), vasm.Use(z), vasm.Def(x))
//	text, err := f.Text()
//
// Operands are in the order of Go's assembler: the destination comes last. Registers are allocated
// after the last instruction has been added; if there are not enough, values are spilled to the
// frame.
package vasm
