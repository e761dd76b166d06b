package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// TestTwins runs the CUDA C++ twins of every case, compiled to PTX by nvcc, in the interpreter.
func TestTwins(t *testing.T) {
	nvcc := FindNVCC()
	if nvcc == "" {
		t.Skip("nvcc is not installed")
	}
	dir := t.TempDir()
	source, object := filepath.Join(dir, "twins.cu"), filepath.Join(dir, "twins.ptx")
	if err := os.WriteFile(source, []byte(twinsSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(nvcc, "-O3", "-arch=sm_90", "-ptx", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("nvcc: %v\n%s", err, out)
	}
	text, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	dev := opened(t, ptxinterp.Open)
	ts := &twins{cubin: string(text), target: dev.Info().Capability, kernels: map[string]*driver.Kernel{}}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			b, w := prepare(t, dev, c)
			for _, twin := range w.contenders(ts) {
				if twin.name == report.Ours || twin.name == report.Tuned {
					continue
				}
				if err := b.verify(t.Context(), w, twin); err != nil {
					t.Errorf("%s: %v", twin.name, err)
				}
			}
		})
	}
}

// TestTwinLayouts compares the parameter blocks that the kernels of twins.cu take with those
// that launches of the cases make.
func TestTwinLayouts(t *testing.T) {
	c := readTwins(t)
	dev := opened(t, cpu.Open)
	for _, bc := range Cases() {
		_, w := prepare(t, dev, bc)
		for _, l := range append(w.ours, w.best...) {
			args, ok := c.takes[l.name]
			if !ok {
				t.Errorf("twins.cu has no kernel %s", l.name)
				continue
			}
			want, bytes := layout(l.args)
			got, size := c.layout(t, args)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: parameters of the launch (-) and of %s (+):\n%s", l.name, args, diff)
			}
			if size+driver.HiddenBytes != bytes {
				t.Errorf("%s: %s has %d bytes without Hidden, want %d", l.name, args, size, bytes-driver.HiddenBytes)
			}
		}
	}
}

// TestLayout compares layout with what the compiler generates.
func TestLayout(t *testing.T) {
	f := &array[float32]{}
	i := &array[int32]{}
	for _, test := range []struct {
		kernel *driver.Kernel
		args   []argument
	}{
		{empty0Kernel, nil},
		{spmvKernel, []argument{i, i, f, f, f}},
		{blackScholesKernel, []argument{f, f, f, f, f, byValue(market{})}},
		{monteCarloKernel, []argument{&array[uint64]{}, byValue(uint32(0))}},
		{stencil7Kernel, []argument{f, f, byValue(0), byValue(weights{})}},
		{nbodyKernel, []argument{&array[body]{}, &array[vector]{}}},
		{histogramKernel, []argument{&array[uint8]{}, &array[uint32]{}}},
	} {
		params, bytes := layout(test.args)
		var want []driver.Param
		for _, p := range test.kernel.Params {
			p.Name = ""
			want = append(want, p)
		}
		if diff := cmp.Diff(want, params); diff != "" || bytes != test.kernel.ParamBytes {
			t.Errorf("%s: layout has %d bytes, want %d; generated (-) and layout (+):\n%s", test.kernel.Name, bytes, test.kernel.ParamBytes, diff)
		}
	}
}

// cuda is what the tests read in twins.cu.
type cuda struct {
	takes   map[string]string   // the struct that a kernel takes, by the kernel's name
	structs map[string][]string // the types of a struct's fields
}

func readTwins(t *testing.T) cuda {
	t.Helper()
	c := cuda{map[string]string{}, map[string][]string{}}
	for _, m := range regexp.MustCompile(`(?m)^KERNEL(?:_OF\([\d, ]+\))? (\w+)\(const (\w+) g\)`).FindAllStringSubmatch(twinsSource, -1) {
		c.takes[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^struct (\w+) \{ (.*) \};$`).FindAllStringSubmatch(twinsSource, -1) {
		for declaration := range strings.SplitSeq(m[2], ";") {
			declaration = strings.TrimSpace(declaration)
			names := 1 + strings.Count(declaration, ",")
			at := strings.LastIndexFunc(strings.SplitN(declaration, ",", 2)[0], unicode.IsSpace)
			if at < 0 {
				continue
			}
			for range names {
				c.structs[m[1]] = append(c.structs[m[1]], declaration[:at])
			}
		}
	}
	if len(c.takes) < 50 {
		t.Fatalf("read %d kernels in twins.cu", len(c.takes))
	}
	return c
}

// layout returns the parameters of a struct, by the rules of C++ on 64-bit machines, and its bytes up to Hidden.
func (c cuda) layout(t *testing.T, name string) (params []driver.Param, bytes int) {
	fields := c.structs[name]
	if len(fields) == 0 || fields[len(fields)-1] != "Hidden" {
		t.Fatalf("%s does not end with Hidden: %q", name, fields)
	}
	for _, f := range fields[:len(fields)-1] {
		size, align := c.sizeof(t, f)
		bytes = (bytes + align - 1) / align * align
		p := driver.Param{Offset: bytes, Size: size}
		if elem, ok := strings.CutPrefix(f, "Slice<"); ok {
			p.Elem, _ = c.sizeof(t, strings.TrimPrefix(strings.TrimSuffix(elem, ">"), "const "))
		}
		params = append(params, p)
		bytes += size
	}
	return params, (bytes + 7) / 8 * 8
}

func (c cuda) sizeof(t *testing.T, name string) (size, align int) {
	if strings.HasPrefix(name, "Slice<") {
		return 24, 8
	}
	if size, ok := map[string]int{"u8": 1, "int": 4, "u32": 4, "float": 4, "u64": 8, "double": 8, "long long": 8}[name]; ok {
		return size, size
	}
	for _, f := range c.structs[name] {
		s, a := c.sizeof(t, f)
		size, align = (size+a-1)/a*a+s, max(align, a)
	}
	if size == 0 {
		t.Fatalf("twins.cu: what is %q?", name)
	}
	return (size + align - 1) / align * align, align
}
