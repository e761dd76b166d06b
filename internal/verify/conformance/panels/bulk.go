package panels

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// rows doubles rows of x, each by a block that copies it as a whole, to shared memory and back.
//
//gpu:kernel
//gpu:block 32
func rows(t gpu.Thread, from, length int, x, y []float32) {
	row, full := gpu.Shared[[256]float32](t), gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		full.Init(t, 1)
	}
	t.Sync()
	for round := range 2 {
		start := from + (2*t.BlockX()+round)*256
		if t.ThreadX() == 0 {
			full.Expect(t, 4*length)
			gpu.FetchBulk(t, row[:length], x[start:start+length], full) // fetch
		}
		full.Wait(t, round)
		for i := t.ThreadX(); i < length; i += 32 {
			row[i] = 2*row[i] + float32(round)
		}
		t.FenceAsync()
		t.Sync()
		if t.ThreadX() == 0 {
			gpu.StoreBulk(t, y[start:start+length], row[:length])
			t.CommitStores()
			t.WaitStores(0)
		}
		t.Sync()
	}
}

func bulkRows(r *check.Run) {
	const blocks = 3
	for _, length := range []int{256, 100, 4} {
		x, want := make([]float32, blocks*512+4), make([]float32, blocks*512+4)
		for i := range x {
			x[i] = float32(i%1000) / 4
			if k := i - 4; k >= 0 && k%256 < length {
				want[i] = 2*x[i] + float32(k/256%2)
			}
		}
		y := check.Make[float32](r, len(x))
		r.Launch(Rows(r.Stream, device.Blocks{X: blocks}, 4, length, check.Upload(r, x...), y))
		check.Want(r, y, want...)
	}
}

//go:embed bulk.go
var bulkText string

func bulkFaults(r *check.Run) {
	const wrong = "gpu.FetchBulk: address or size is not a multiple of 16 bytes, or size is 1 MiB or more"
	for _, c := range [][2]int{{1, 100}, {0, 3}, {0, 0}} {
		x := check.Make[float32](r, 1024)
		r.Launch(Rows(r.Stream, device.Blocks{X: 1}, c[0], c[1], x, check.Make[float32](r, 1024)))
		r.Fault(device.Fault{Kernel: "rows", File: "bulk.go", Line: check.Line(bulkText, "fetch"), Message: wrong})
	}
}
