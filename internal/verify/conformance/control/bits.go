package control

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// picked is how many elements of a window each number can select.
const picked = 31

// pick stores in out[i] the elements of a window of table that the bits of i select, combined.
//
//gpu:kernel
func pick(t gpu.Thread, table []uint32, window int, out []uint32) {
	i := t.GlobalX()
	if i >= len(out) {
		return
	}
	out[i] = selected(table, window, spread(i))
}

// spread returns a number whose high bits change with i, too.
func spread(i int) uint32 { return uint32(i) * 0x9e3779b1 }

func selected(table []uint32, window int, bits uint32) (x uint32) {
	for j := range picked {
		if bits&1 != 0 {
			x = x*3 ^ table[window+j]
		}
		bits >>= 1
	}
	return x
}

// picks selects from windows at the start, in the middle and at the end of the table.
func picks(r *check.Run) {
	table := make([]uint32, 50)
	for i := range table {
		table[i] = uint32(i*i)*0x9e3779b1 + 7
	}
	in := check.Upload(r, table...)
	for _, window := range []int{0, 5, len(table) - picked} {
		want := make([]uint32, 200)
		for i := range want {
			want[i] = selected(table, window, spread(i))
		}
		out := check.Make[uint32](r, len(want))
		r.Launch(Pick(r.Stream, check.Threads(len(want)), in, window, out))
		check.Want(r, out, want...)
	}
}
