package progen

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed program/shared.go.txt
var sharedText string

// Package returns the files, by name, of a package of kernels: each has its own, so that what it says of its lines does
// not depend on the others. The variable Natives has a function that runs each kernel for a driver.Kernel's Native.
func Package(name string, kernels []Kernel) map[string]string {
	files := map[string]string{"shared.go": "package " + name + "\n" + sharedText + conversions()}
	var table strings.Builder
	fmt.Fprintf(&table, "package %s\n\nimport (\n\t\"unsafe\"\n\n\t\"github.com/gopherwarp/gopherwarp/dtype\"\n\t\"github.com/gopherwarp/gopherwarp/gpu\"\n)\n\nvar _ dtype.F16\n\n", name)
	table.WriteString("var Natives = map[string]func(ts *gpu.Threads, args unsafe.Pointer){\n")
	for _, k := range kernels {
		files[k.Name+".go"] = "package " + name + "\n" + imported + k.imports() + header + "\n" + k.Source
		table.WriteString(k.native())
	}
	files["natives.go"] = table.String() + "}\n"
	return files
}

const imported = `
import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/gpu/collective"
	"github.com/gopherwarp/gopherwarp/math32"
)
`

const header = `
var _ dtype.F16
var _ = math.Sqrt
var _ = math32.Sqrt
var _ = bits.Len
var _ = atomic.AddInt32
var _ = gpu.AtomicAdd[int]
var _ collective.Sum[int]
`

// imports returns the declarations of the packages that only this kernel imports.
func (k Kernel) imports() string {
	var text strings.Builder
	for _, i := range k.Imports {
		fmt.Fprintf(&text, "\nimport %s %q", i.Name, i.Path)
	}
	return text.String()
}

// native returns the kernel's element in the table of natives. Parameters lie in the block as
// the fields of a struct.
func (k Kernel) native() string {
	fields, args := "first int", "a.first"
	if len(k.Args) > 0 && k.Args[0].Map != nil {
		fields += "; _ [56]byte" // maps lie at multiples of 64
	}
	for i, a := range k.Args {
		t := a.Type
		if a.Len > 0 {
			t = "[]" + t
		}
		fields += fmt.Sprintf("; p%d %s", i, t)
		args += fmt.Sprintf(", a.p%d", i)
	}
	if k.Fields {
		args = strings.Replace(args, "a.p0", "*(*"+k.Name+"Fields)(unsafe.Pointer(&a.p0))", 1)
		args, _, _ = strings.Cut(args, ", a.p")
	}
	return fmt.Sprintf("\t%q: func(ts *gpu.Threads, args unsafe.Pointer) {\n\t\ta := (*struct{%s})(args)\n\t\tfor ts.Next() {\n\t\t\t%s(ts.Thread(), %s)\n\t\t}\n\t},\n", k.Name, fields, k.Name, args)
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
