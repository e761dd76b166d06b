// Package frontend turns kernels, and all Go functions that they call, from go/ssa into
// the compiler's IR. It is the place that knows what of Go a kernel may use: everything else
// is refused with a position, the construct's name and what to write instead.
//
// It loads no packages and reads no directives (package compile does), and it optimises
// nothing (package pass does): checks stand wherever Go has them, variables whose address is
// taken stay in memory, calls stay calls. Every pointer has the generic type; a pass
// finds the address spaces.
//
//	prog, pkgs := ssautil.Packages(loaded, ssa.InstantiateGenerics)
//	prog.Build()
//	m, found := frontend.Build([]frontend.Kernel{{Func: pkgs[0].Func("multiply")}})
//	if err := found.Err(); err != nil {
//		return err // kernels.go:12:7: a kernel cannot use a channel (GW0101)
//	}
//	fmt.Print(m)
package frontend
