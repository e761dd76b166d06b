package device_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/origin"
)

// native represents generated code: the declaration of its source is in this file.
func native(*gpu.Threads, unsafe.Pointer) {}

func TestStaleKernels(t *testing.T) {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) {
		t.Skip("built with -trimpath: the program does not contain the paths of its sources")
	}
	text, err := os.ReadFile(file)
	must(t, err)
	sum := origin.Sums(text)["native"]
	const here = "sources_test.go"
	for _, test := range []struct {
		name  string
		decls []origin.Decl
		uses  []uint16
		want  error
	}{
		{"unchanged", []origin.Decl{{File: here, Name: "native", Sum: sum}}, []uint16{0}, nil},
		{"changed", []origin.Decl{{File: here, Name: "native", Sum: sum + 1}}, []uint16{0}, device.ErrStale},
		{"removed", []origin.Decl{{File: here, Name: "none", Sum: sum}}, []uint16{0}, device.ErrStale},
		{"another kernel's is changed", []origin.Decl{{File: here, Name: "native", Sum: sum}, {File: here, Name: "none", Sum: 1}}, []uint16{0}, nil},
		{"on another machine", []origin.Decl{{File: "missing.go", Name: "native", Sum: sum + 1}}, []uint16{0}, nil},
	} {
		k := &driver.Kernel{Name: "native", Native: native, Sources: origin.Format(test.decls), Uses: test.uses, ParamBytes: driver.HiddenBytes}
		for range 2 { // a stale kernel stays stale
			_, _, s := newFake(t, io.Discard)
			wants(t, test.name, s.Plan(k, device.Cover(1, 32)).Launch(), test.want)
		}
	}
}
