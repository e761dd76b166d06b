package halves

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	all, some := make([]uint32, 1<<16), []uint32{}
	for i := range uint32(1 << 16) {
		all[i] = i
		if i < 256 || i%37 == 0 {
			some = append(some, i)
		}
	}
	return []check.Case{
		check.Fields("convert", Conversions, convertAll, all...),
		check.Fields("compute", SlowConversions, convertSlowly, some...),
		{Name: "neighbours", Run: neighbours},
		{Name: "print", Run: printed},
	}
}

func printed(r *check.Run) {
	h, b := check.Upload(r, dtype.F16From32(0.1)), check.Upload(r, dtype.BF16From32(-2.5))
	e, f := check.Upload(r, dtype.F8E4M3From32(0.3)), check.Upload(r, dtype.F8E5M2From32(1e9))
	r.Launch(Prints(r.Stream, check.Threads(1), h, b, e, f))
	r.Printed("0.1 -2.50 0.3 60000 1.5\n")
}
