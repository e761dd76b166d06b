package harnesstest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Layouts compares the parameter blocks of the suite's twins with those of the kernels.
func Layouts(t *testing.T, suite harness.Suite) {
	c := readTwins(suite.Twins)
	dev := Opened(t, cpu.Open)
	for _, bc := range suite.Cases {
		_, w := Prepare(t, dev, bc)
		for _, l := range slices.Concat(w.Ours, w.Best) {
			args, ok := c.takes[l.Twin()]
			if !ok {
				t.Errorf("CUDA C++ has no kernel %s", l.Twin())
				continue
			}
			want, bytes := harness.Layout(l.Args)
			got, size := c.layout(t, args)
			if !slices.Equal(want, got) {
				t.Errorf("%s: the launch passes %+v, but %s has %+v", l.Twin(), want, args, got)
			}
			if size+driver.HiddenBytes != bytes {
				t.Errorf("%s: %s has %d bytes without Hidden, want %d", l.Twin(), args, size, bytes-driver.HiddenBytes)
			}
		}
	}
}

// cuda is what Layouts reads in the CUDA C++ source.
type cuda struct {
	takes   map[string]string   // the struct that a kernel takes, by the kernel's name
	structs map[string][]string // the types of a struct's fields
}

func readTwins(source string) cuda {
	c := cuda{map[string]string{}, map[string][]string{}}
	for _, m := range regexp.MustCompile(`(?m)^KERNEL(?:_OF\([\d, ]+\))? (\w+)\(const (\w+) g\)`).FindAllStringSubmatch(source, -1) {
		c.takes[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^struct (\w+) \{ (.*) \};$`).FindAllStringSubmatch(source, -1) {
		for declaration := range strings.SplitSeq(m[2], ";") {
			declaration = strings.TrimSpace(declaration)
			names := 1 + strings.Count(declaration, ",")
			at := strings.LastIndexFunc(strings.SplitN(declaration, ",", 2)[0], unicode.IsSpace)
			if at < 0 {
				continue
			}
			elem := declaration[:at]
			if _, length, ok := strings.Cut(declaration[at:], "["); ok {
				elem += "[" + length
			}
			for range names {
				c.structs[m[1]] = append(c.structs[m[1]], elem)
			}
		}
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
	if elem, length, ok := strings.Cut(name, "["); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(length, "]"))
		if err != nil {
			t.Fatalf("CUDA C++: type %q: %v", name, err)
		}
		size, align := c.sizeof(t, elem)
		return n * size, align
	}
	if size, ok := map[string]int{"u8": 1, "u16": 2, "int": 4, "u32": 4, "float": 4, "u64": 8, "double": 8, "float2": 8, "float4": 16, "long long": 8}[name]; ok {
		return size, size
	}
	for _, f := range c.structs[name] {
		s, a := c.sizeof(t, f)
		size, align = (size+a-1)/a*a+s, max(align, a)
	}
	if size == 0 {
		t.Fatalf("CUDA C++: type %q is unknown", name)
	}
	return (size + align - 1) / align * align, align
}
