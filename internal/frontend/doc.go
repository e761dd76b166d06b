// Package frontend translates kernels, and all Go functions that they call, from go/ssa to the
// compiler's IR. It defines the subset of Go that kernels may use. For everything else it reports a
// diagnostic with the position, the name of the construct and advice on what to write instead.
//
// The package does not load packages or read directives (package compile does) and does not
// optimize (package pass does): there is a check wherever Go has one, variables whose address is
// taken remain in memory, and calls remain calls. Every pointer has the generic type; a pass infers
// the address spaces.
//
//	prog, pkgs := ssautil.Packages(loaded, ssa.InstantiateGenerics)
//	prog.Build()
//	m, found := frontend.Build([]frontend.Kernel{{Func: pkgs[0].Func("multiply")}})
//	if err := found.Err(); err != nil {
//		return err // kernels.go:12:7: a kernel cannot use a channel (GW0101)
//	}
//	fmt.Print(m)
package frontend
