// Package check runs cases of the conformance suite on a device and compares their results with
// those of plain Go.
//
// A case tests one behaviour or several. In the second case, its kernel stores a struct with a
// field for each behaviour.
//
//	check.Fields("division", Division, divide, pairs...)      // out[i] must be divide(in[i])
//	check.Case{Name: "swap", Run: func(r *check.Run) {
//		out := check.Make[int32](r, 2)
//		r.Launch(Swap(r.Stream, check.Threads(1), out))
//		check.Want(r, out, 2, 1)
//	}}
//
// The kernels are in the sibling packages.
package check
