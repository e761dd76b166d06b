package numbers

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// small is the integers of less than 32 bits.
type small interface{ int8 | int16 | uint8 | uint16 }

// neighbours has what a thread computes from its elements of two slices, and from those at the other ends of the slices.
type neighbours struct {
	Sum, Product, Shifted, Halved, Crossed int32
	Single                                 float32
	Quotient, Rest                         int32
	Long                                   int64
	Less, Odd                              bool
}

func neighboursOf[T small](a, b, c T, odd bool) (r neighbours) {
	r.Crossed = int32(a)<<16 ^ int32(b)<<8 ^ int32(c)
	r.Sum, r.Product, r.Shifted, r.Halved = int32(a+b), int32(a*b), int32(a<<3), int32(c>>1)
	r.Single, r.Long = float32(a)+float32(b)/2, int64(b)
	if b != 0 {
		r.Quotient, r.Rest = int32(a/b), int32(a%b)
	}
	r.Less, r.Odd = a < c, odd
	return r
}

// neighbouring reads elements of less than 32 bits that lie next to each other, and others in reverse, and writes such elements:
// to all of sums, and to every place of some whose condition holds.
//
//gpu:kernel
func neighbouring[T small](t gpu.Thread, a, b []T, odd []bool, out []neighbours, sums, some []T, less []bool) {
	i := t.GlobalX()
	last := len(some) - 1 - i
	if i >= len(out) || i >= len(sums) || i >= len(less) || i >= len(some) || last < 0 {
		return
	}
	x, y, z, o := a[i], b[i], a[len(a)-1-i], odd[i]
	r := neighboursOf(x, y, z, o)
	out[i], sums[i], less[i] = r, x+y, x < z != o
	if x < z {
		some[i] = x - z
	} else {
		some[last] = z
	}
}

//gpu:instance NeighbouringInt8s = neighbouring[int8]
//gpu:instance NeighbouringInt16s = neighbouring[int16]
//gpu:instance NeighbouringUint8s = neighbouring[uint8]
//gpu:instance NeighbouringUint16s = neighbouring[uint16]

// neighbourLauncher is the launcher of an instance of neighbouring.
type neighbourLauncher[T any] func(s *device.Stream, g device.Grid, a, b device.Slice[T], odd device.Slice[bool], out device.Slice[neighbours], sums, some device.Slice[T], less device.Slice[bool]) error

// neighbourCase runs an instance of neighbouring on slices that no number of lanes divides and that do not begin at aligned
// addresses.
func neighbourCase[T small](name string, launch neighbourLauncher[T]) check.Case {
	return check.Case{Name: "elements of less than 32 bits/" + name, Run: func(r *check.Run) {
		const n = 333
		var a, b [n + 3]T
		var odd [n + 3]bool
		for i := range a {
			a[i], b[i], odd[i] = T(i*i*7-i), T(i*97+i/5), i%3 == 0
		}
		out, sums, some, less := check.Make[neighbours](r, n), check.Make[T](r, n+3), check.Make[T](r, 2*n+3), check.Make[bool](r, n+1)
		da, db, dodd := check.Upload(r, a[:]...), check.Upload(r, b[:]...), check.Upload(r, odd[:]...)
		r.Launch(launch(r.Stream, device.Cover(n, 64), da.Slice(3, n+3), db.Slice(1, n+1), dodd.Slice(2, n+2), out, sums.Slice(3, n+3), some.Slice(1, 2*n+1), less.Slice(1, n+1)))
		want, wantSums, wantSome, wantLess := make([]neighbours, n), make([]T, n+3), make([]T, 2*n+3), make([]bool, n+1)
		for i := range n {
			x, y, z := a[i+3], b[i+1], a[n+2-i]
			want[i] = neighboursOf(x, y, z, odd[i+2])
			wantSums[i+3] = x + y
			if x < z {
				wantSome[i+1] = x - z
			} else {
				wantSome[2*n-i] = z
			}
			wantLess[i+1] = x < z != odd[i+2]
		}
		check.Want(r, out, want...)
		check.Want(r, sums, wantSums...)
		check.Want(r, some, wantSome...)
		check.Want(r, less, wantLess...)
	}}
}
