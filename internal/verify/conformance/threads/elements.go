package threads

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Kernels that do an element a thread, which a compiler may let a thread do several of.

//gpu:kernel
func chain(t gpu.Thread, a, x, z, y []float32) {
	if i := t.GlobalX(); i < len(x) && i < len(y) && i < len(a) && i < len(z) {
		x[i] = a[i] + 1
		y[i] = z[i] * 2
	}
}

//gpu:kernel
func differences(t gpu.Thread, x, y []float32) {
	if i := t.GlobalX(); i < len(x)-1 && i < len(y) {
		y[i] = x[i+1] - x[i]
	}
}

//gpu:kernel
func fromOn(t gpu.Thread, k int, x []int32) {
	i := t.GlobalX()
	if i < k {
		return
	}
	if i < len(x) {
		x[i] += 5
	}
}

// chained has a kernel read what it wrote by another name.
func chained(r *check.Run) {
	for _, n := range []int{1, 4, 30, 64} {
		a, wantX, wantY := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range a {
			a[i] = float32(3 * i)
			wantX[i], wantY[i] = a[i]+1, (a[i]+1)*2
		}
		x, y := check.Make[float32](r, n), check.Make[float32](r, n)
		r.Launch(Chain(r.Stream, device.Cover(n, 16), check.Upload(r, a...), x, x, y))
		check.Want(r, x, wantX...)
		check.Want(r, y, wantY...)
	}
}

// different subtracts neighbours, in grids that do not cover all.
func different(r *check.Run) {
	for _, n := range []int{2, 5, 33, 40} {
		x, want := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(i * i)
		}
		for i := range min(n-1, 30) {
			want[i] = float32(2*i + 1)
		}
		y := check.Make[float32](r, n)
		r.Launch(Differences(r.Stream, check.Blocks(3, 10), check.Upload(r, x...), y))
		check.Want(r, y, want...)
	}
}

// behind changes the elements from one on.
func behind(r *check.Run) {
	for _, k := range []int{0, 1, 2, 3, 5, 18, 27, 40} {
		want := make([]int32, 29)
		for i := range want {
			if i >= k && i < 26 {
				want[i] = 5
			}
		}
		x := check.Make[int32](r, 29)
		r.Launch(FromOn(r.Stream, check.Blocks(2, 13), k, x))
		check.Want(r, x, want...)
	}
}

//gpu:kernel
//gpu:block 16,4
func lanes(t gpu.Thread, out []int32) {
	i := t.ThreadY()*16 + t.ThreadX()
	out[i] = int32(t.Lane() + 100*t.Warp())
}

func numbered(r *check.Run) {
	want := make([]int32, 64)
	for i := range want {
		want[i] = int32(i%32 + 100*(i/32))
	}
	out := check.Make[int32](r, 64)
	r.Launch(Lanes(r.Stream, device.Blocks{X: 1}, out))
	check.Want(r, out, want...)
}

// spacious has more shared memory than a kernel may declare, of several alignments, and what the launch adds.
//
//gpu:kernel
func spacious(t gpu.Thread, out []int64) {
	small := gpu.Shared[[3]uint8](t)
	large := gpu.Shared[[7000]float64](t)
	flags := gpu.Shared[[5]bool](t)
	more := gpu.DynamicShared[int32](t)
	lane := t.ThreadX()
	large[lane*200], large[6999-lane] = float64(lane), float64(lane)+0.5
	more[lane] = int32(lane * 3)
	if lane < 3 {
		small[lane], flags[lane] = uint8(lane+7), lane == 1
	}
	t.Sync()
	other := (lane + 5) % t.BlockDimX()
	out[lane] = int64(large[other*200]) + int64(large[6999-other]*2)*100 + int64(more[other])*10000 + int64(small[lane%3])*1e8
	if flags[lane%3] {
		out[lane] += 1e10
	}
	out[lane] += int64(len(more)) * 1e12
}

func roomy(r *check.Run) {
	if l := r.Device.Info().Limits; max(l.SharedPerBlock, l.SharedDynamic) < 56<<10 {
		r.Skip("the device has less shared memory")
		return
	}
	want := make([]int64, 32)
	for i := range want {
		o := int64(i+5) % 32
		want[i] = o + (2*o+1)*100 + o*30000 + int64(i%3+7)*1e8 + 40e12
		if i%3 == 1 {
			want[i] += 1e10
		}
	}
	out := check.Make[int64](r, 32)
	g := check.Threads(32)
	g.Shared = 160
	r.Launch(Spacious(r.Stream, g, out))
	check.Want(r, out, want...)
}

// spaced has a field that no comparison looks at, and no thread here writes.
type spaced struct {
	A int32
	_ int32
	B int32
}

//gpu:kernel
func spacedOut(t gpu.Thread, out []int32) {
	all := gpu.Shared[[32]spaced](t)
	lane := t.ThreadX()
	all[lane].A, all[lane].B = int32(lane), int32(lane%4)
	t.Sync()
	other := all[lane^4]
	if other == (spaced{A: int32(lane ^ 4), B: int32(lane % 4)}) {
		out[lane] = 1
	}
	if other != (spaced{A: int32(lane ^ 4), B: 2}) {
		out[lane] += 10
	}
}

func unnamedFields(r *check.Run) {
	want := make([]int32, 32)
	for i := range want {
		want[i] = 11
		if i%4 == 2 {
			want[i] = 1
		}
	}
	out := check.Make[int32](r, 32)
	r.Launch(SpacedOut(r.Stream, check.Threads(32), out))
	check.Want(r, out, want...)
}

// sweep reads, in a loop with barriers, indices that are in range for the threads that read them.
//
//gpu:kernel
func sweep(t gpu.Thread, n int, x, out []int32) {
	lane := t.ThreadX()
	sum := gpu.Shared[[32]int32](t)
	sum[lane] = 0
	for i := range n {
		if lane < len(out)/2 {
			sum[lane] += x[lane*2+i]
		}
		t.Sync()
		if lane == 0 {
			sum[31] = sum[i%16] + 1
		}
		t.Sync()
	}
	out[lane] = sum[lane]
}

func swept(r *check.Run) {
	x := make([]int32, 40)
	for i := range x {
		x[i] = int32(i)
	}
	want := make([]int32, 32)
	for i := range 16 {
		for k := range 9 {
			want[i] += int32(2*i + k)
		}
	}
	for k := range 9 {
		want[31] = 1
		for j := range k + 1 {
			want[31] += int32(2*k + j)
		}
	}
	out := check.Make[int32](r, 32)
	r.Launch(Sweep(r.Stream, check.Threads(32), 9, check.Upload(r, x...), out))
	check.Want(r, out, want...)
}
