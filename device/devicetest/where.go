package devicetest

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Place is the position of a thread: indices along x, y and z.
type Place struct{ Block, Thread [3]int32 }

// where stores the Place of each thread. Blocks, and the threads in them, are in order, x counting
// fastest.
func where(t gpu.Thread, out []Place) {
	block := (t.BlockZ()*t.GridDimY()+t.BlockY())*t.GridDimX() + t.BlockX()
	i := ((block*t.BlockDimZ()+t.ThreadZ())*t.BlockDimY()+t.ThreadY())*t.BlockDimX() + t.ThreadX()
	out[i] = Place{
		Block:  [3]int32{int32(t.BlockX()), int32(t.BlockY()), int32(t.BlockZ())},
		Thread: [3]int32{int32(t.ThreadX()), int32(t.ThreadY()), int32(t.ThreadZ())},
	}
}

// Where returns the kernel that stores each thread's Place in a slice with one element for each
// thread of the grid, in order, where x varies fastest.
func Where() *driver.Kernel {
	type params struct{ out []Place }
	return &driver.Kernel{
		Name: "where", Package: "devicetest",
		Params:     []driver.Param{slice("out", 0, int(unsafe.Sizeof(Place{})))},
		ParamBytes: 24 + driver.HiddenBytes,
		Variants:   variant("where"),
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			p := *(*params)(args)
			for ts.Next() {
				where(ts.Thread(), p.out)
			}
		},
	}
}
