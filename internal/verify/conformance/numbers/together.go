package numbers

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

func rootsOfBoth(p pair[float32]) pair[float32] {
	return pair[float32]{math32.Sqrt(p.A), math32.Sqrt(p.B)}
}

func quotientsOfBoth(p pair[float32]) pair[float32] { return pair[float32]{p.A / p.B, 1 / p.B} }

// rootsTogether has two roots and nothing else: a compiler may round them in a way that is right for most numbers, with
// one test for both of whether it was.
//
//gpu:kernel
func rootsTogether(t gpu.Thread, in, out []pair[float32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = rootsOfBoth(in[i])
	}
}

// quotientsTogether has two quotients and nothing else, for the same reason.
//
//gpu:kernel
func quotientsTogether(t gpu.Thread, in, out []pair[float32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = quotientsOfBoth(in[i])
	}
}
