// Package vector writes vector code for the regions of a kernel, which package layout has divided and placed.
//
//	k := vector.NewKernel(vector.Kernel{Placement: p, F: f, Array: arrays, Apart: apart, Name: declare})
//	for _, r := range k.Vectorize(region) { // one for each unit that there is code for
//		... // call r with the arguments that r.Inputs describes
//	}
//
// A plan decides what lanes execute together, a vectorizer translates the plan to operations, and package units translates
// operations to instructions. The code for a region stops before the first thread that it cannot run, and returns the
// thread's number. Package cpu calls the code, and continues with that thread in scalar Go.
package vector
