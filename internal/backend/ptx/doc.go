// Package ptx turns a kernel of the IR into PTX text.
//
//	r, err := ptx.Emit(f, ptx.Options{}) // f has been through package pass
//	fmt.Println(r.PTX)                   // one module with one entry
//
// The text follows the PTX ISA of NVIDIA (docs.nvidia.com/cuda/parallel-thread-execution); section
// names in comments are that manual's. The package makes no decisions that affect results: fusion,
// unrolling and dead code are settled in the IR. It needs neither a device nor Go source, its
// output depends only on its input, and it may be used at run time.
//
// Emit works in steps, each in a file: layout.go orders the blocks, select.go and similar files
// select instructions over registers that are written once, dead.go removes the unused ones,
// coalesce.go and copies.go replace phis by moves, write.go names registers and prints.
//
// How values live in registers:
//
//	i1           .pred
//	i8, i16      .b32, the bits above the width zero
//	i32, i64     .b32, .b64
//	f32, f64     .f32, .f64
//	ptr          .b64; ptr.global too
//	ptr.shared, ptr.local   .b32, the offset in that space's window; nil is -1
//	ptr.const    .b64, likewise
//
// In memory every pointer is a generic address of 64 bits. Generic and global addresses of
// global memory are equal (ISA, Generic Addressing: an address outside the windows of the
// other spaces is global), so those two are never converted.
package ptx
