// Package ir is the compiler's intermediate representation: typed SSA in basic blocks,
// with one table of operations, a text form that parses back, and a verifier.
//
// The package neither transforms functions (package pass does) nor derives facts other than
// dominance (package analysis does), and does not depend on Go syntax or PTX. Integers have a width
// but no sign; the operation determines their interpretation. Pointers have an address space but no
// element type.
//
//	kernel scale(%0 ptr.global @0, %1 i64 @8, %2 f32 @24) bytes 48 {
//	b0:
//		%3 = tid i32 {0}
//		%4 = zext i64 %3
//		%5 = slt i1 %4, %1
//		if %5 b1 b2
//	b1: <- b0
//		%6 = index ptr.global %0, %4 {4}
//		%7 = load f32 %6
//		%8 = fmul f32 %7, %2
//		store %6, %8
//		jump b2
//	b2: <- b0 b1
//		ret
//	}
//
// README.md explains the IR with such dumps.
package ir
