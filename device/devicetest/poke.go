package devicetest

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The lines of the statements in this file that fault. The PTX does not contain them.
const (
	pokeLine     = 21
	pokeSyncLine = 32
)

// poke stores each thread's index in x, after thread writer has stored -1 at index.
func poke(t gpu.Thread, x []int32, writer, index int) {
	i := t.GlobalX()
	if i == writer {
		x[index] = -1
	}
	if i < len(x) {
		x[i] = int32(i)
	}
}

// pokeSync is poke, with a barrier between the two stores.
func pokeSync(t gpu.Thread, x []int32, writer, index int) {
	i := t.GlobalX()
	if i == writer {
		x[index] = -1
	}
	t.Sync()
	if i < len(x) {
		x[i] = int32(i)
	}
}

// Poke returns a kernel with the parameters x []int32, writer int and index int. If a
// thread's global index equals writer, the thread stores -1 in x[index]. Then every thread stores
// its global index i in x[i].
func Poke() *driver.Kernel {
	return pokeKernel("poke", pokeLine, poke)
}

// PokeSync returns a kernel like Poke, with a barrier between the two stores.
func PokeSync() *driver.Kernel {
	k := pokeKernel("pokeSync", pokeSyncLine, pokeSync)
	k.Barriers = true
	return k
}

func pokeKernel(name string, line int, f func(t gpu.Thread, x []int32, writer, index int)) *driver.Kernel {
	type params struct {
		x             []int32
		writer, index int
	}
	return &driver.Kernel{
		Name: name, Package: "devicetest",
		Params: []driver.Param{
			slice("x", 0, 4), {Name: "writer", Offset: 24, Size: 8}, {Name: "index", Offset: 32, Size: 8},
		},
		ParamBytes: 40 + driver.HiddenBytes,
		Sites: []driver.Site{{
			File: "poke.go", Line: line, Format: "index out of range [%d] with length %d",
			Args: []dtype.Type{dtype.Int64, dtype.Int64},
		}},
		Variants: variant(name),
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			p := *(*params)(args)
			for ts.Next() {
				f(ts.Thread(), p.x, p.writer, p.index)
			}
		},
	}
}
