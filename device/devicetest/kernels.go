package devicetest

import (
	"embed"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The functions below are what the author of a kernel writes. The code after them is what the
// compiler would generate for each.

// multiply stores the element-wise product of a and b in c. All slices have the same length.
func multiply(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] * b[i]
	}
}

// sumBlock is the maximum number of threads in a block of sum.
const sumBlock = 256

// sum stores in sums, for each block, the sum of the block's elements of x. The number of threads
// in a block is a power of two.
func sum(t gpu.Thread, x, sums []float32) {
	tile := gpu.Shared[[sumBlock]float32](t)
	i := t.ThreadX()
	tile[i] = 0
	if g := t.GlobalX(); g < len(x) {
		tile[i] = x[g]
	}
	t.Sync()
	for step := t.BlockDimX() / 2; step > 0; step /= 2 {
		if i < step {
			tile[i] += tile[i+step]
		}
		t.Sync()
	}
	if i == 0 {
		sums[t.BlockX()] = tile[0]
	}
}

// greet prints the indices of its thread and block.
func greet(t gpu.Thread) {
	gpu.Printf(t, "thread %d of block %d\n", t.ThreadX(), t.BlockX())
}

//go:embed ptx
var files embed.FS

// variant returns the PTX of the kernel with the given name.
func variant(name string) []driver.Variant {
	text, err := files.ReadFile("ptx/" + name + ".ptx")
	if err != nil {
		panic(fmt.Sprintf("BUG: devicetest: %v", err))
	}
	return []driver.Variant{{Target: device.Capability{Major: 7}, PTX: &driver.Text{Code: string(text)}}}
}

func slice(name string, offset, elem int) driver.Param {
	return driver.Param{Name: name, Offset: offset, Size: 24, Elem: elem}
}

// Multiply returns the kernel c[i] = a[i] * b[i] for three slices of float32. Each thread along x
// computes one element.
func Multiply() *driver.Kernel {
	type params struct{ a, b, c []float32 }
	return &driver.Kernel{
		Name: "multiply", Package: "devicetest",
		Params:     []driver.Param{slice("a", 0, 4), slice("b", 24, 4), slice("c", 48, 4)},
		ParamBytes: 72 + driver.HiddenBytes,
		Variants:   variant("multiply"),
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			p := *(*params)(args)
			for ts.Next() {
				multiply(ts.Thread(), p.a, p.b, p.c)
			}
		},
	}
}

// Sum returns the kernel with the parameters x and sums, slices of float32. Each thread reads one
// element of x, and sums[i] becomes the sum of the elements that block i reads. The block adds them
// in shared memory, as a tree with barriers. The number of threads in a block must be a power of
// two, up to 256.
func Sum() *driver.Kernel {
	type params struct{ x, sums []float32 }
	return &driver.Kernel{
		Name: "sum", Package: "devicetest",
		Params:     []driver.Param{slice("x", 0, 4), slice("sums", 24, 4)},
		ParamBytes: 48 + driver.HiddenBytes,
		Shared:     4 * sumBlock,
		Barriers:   true,
		Variants:   variant("sum"),
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			p := *(*params)(args)
			for ts.Next() {
				sum(ts.Thread(), p.x, p.sums)
			}
		},
	}
}

// Greet returns the kernel in which each thread prints its index and its block's index, along x.
func Greet() *driver.Kernel {
	return &driver.Kernel{
		Name: "greet", Package: "devicetest",
		ParamBytes: driver.HiddenBytes,
		Sites: []driver.Site{{
			File: "kernels.go", Line: 50, Format: "thread %d of block %d\n",
			Args: []dtype.Type{dtype.Int64, dtype.Int64},
		}},
		Variants: variant("greet"),
		Native: func(ts *gpu.Threads, _ unsafe.Pointer) {
			for ts.Next() {
				greet(ts.Thread())
			}
		},
	}
}
