// Package check runs cases of the conformance suite on a device and compares what they leave
// with what plain Go computes.
//
// A case is one behaviour, or one kernel that shows several: each field of the struct that it
// stores is a behaviour then.
//
//	check.Fields("division", Division, divide, pairs...)      // out[i] must be divide(in[i])
//	check.Case{Name: "swap", Run: func(r *check.Run) {
//		out := check.Make[int32](r, 2)
//		r.Launch(Swap(r.Stream, check.Threads(1), out))
//		check.Want(r, out, 2, 1)
//	}}
//
// It has no kernels of its own: those are in the packages beside it.
package check
