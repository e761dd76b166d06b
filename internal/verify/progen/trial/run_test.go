package trial

import (
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// TestForeign runs a kernel that the device lacks code for, and then one that it has code for.
func TestForeign(t *testing.T) {
	dev, err := cpu.OpenNative()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	r := NewRunner(dev)
	x := Of(progen.Kernel{Name: "k", Blocks: [2]int{1, 1}, Threads: [2]int{1, 1}})
	if got := r.Run(x); !got.Foreign {
		t.Errorf("without code: %+v, want Foreign", got)
	}
	x.Kernel.Native = func(*gpu.Threads, unsafe.Pointer) {}
	if got := r.Run(x); got.Foreign || got.Fault != "" {
		t.Errorf("with code, after a kernel without: %+v", got)
	}
}
