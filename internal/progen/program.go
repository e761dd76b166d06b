package progen

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed program/main.go.txt
var mainText string

//go:embed program/shared.go.txt
var sharedText string

// perFile is how many kernels stand in a file of a program.
const perFile = 50

// Program returns the files, by name, of a main package that runs the kernels on several devices
// and prints a line that begins with DIFFERS for each that differs.
func Program(kernels []Kernel) map[string]string {
	files := map[string]string{"main.go": mainText, "shared.go": sharedText + conversions()}
	var table strings.Builder
	table.WriteString("package main\n\nvar kernels = []kernel{\n")
	for i, k := range kernels {
		name := fmt.Sprintf("kernels%d.go", i/perFile)
		if files[name] == "" {
			files[name] = header
		}
		files[name] += "\n" + k.Source
		table.WriteString(k.entry())
	}
	files["table.go"] = table.String() + "}\n"
	return files
}

const header = `package main

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

var _ dtype.F16
var _ = math.Sqrt
var _ = bits.Len
var _ = gpu.AtomicAdd[int]
`

// entry returns the kernel's element in the program's table.
func (k Kernel) entry() string {
	args := []string{"l.stream", "l.grid", "l.first"}
	for _, a := range k.Args {
		if a.Len == 0 {
			args = append(args, fmt.Sprintf("value[%s](l)", a.Type))
		} else {
			args = append(args, fmt.Sprintf("slice[%s](l, %d)", a.Type, a.Len))
		}
	}
	return fmt.Sprintf("\t{%q, %d, %d, func(l *launch) error { return K%s(%s) }},\n",
		k.Name, k.Blocks, k.Threads, k.Name[1:], strings.Join(args, ", "))
}

// conversions returns functions that convert floats that fit, and others to 0: Go leaves open
// what becomes of those.
func conversions() string {
	var text strings.Builder
	done := map[string]bool{}
	for _, t := range integers {
		if done[t.name] {
			continue
		}
		done[t.name] = true
		low, high := "0", fmt.Sprintf("0x1p%d", t.bits)
		if t.kind == signed {
			high = fmt.Sprintf("0x1p%d", t.bits-1)
			low = "-" + high
		}
		for _, f := range floats {
			fmt.Fprintf(&text, "\nfunc %sOf%s(x %s) %s {\n\tif x >= %s && x < %s {\n\t\treturn %s(x)\n\t}\n\treturn 0\n}\n", t.name, f.name, f.name, t.name, low, high, t.name)
		}
	}
	return text.String()
}
