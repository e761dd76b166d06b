package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// TestAssume compiles one kernel with each assumption.
func TestAssume(t *testing.T) {
	const kernel = `
func f(t gpu.Thread, x [][4]float32, y []float32, step int) {
	for i := t.GlobalX(); i < len(y) && i < len(x); i += step {
		for j := i; j < len(x); j += step {
			v := x[j]
			y[i] += v[0] + v[1] + v[2] + v[3]
		}
	}
}
`
	cases := []struct {
		directive string
		want      []driver.Fit
	}{
		{"", []driver.Fit{{Narrow: true, Aligned: true}, {}}},
		{"//gpu:assume nothing", []driver.Fit{{}}},
		{"//gpu:assume aligned", []driver.Fit{{Aligned: true}}},
		{"//gpu:assume narrow", []driver.Fit{{Narrow: true}}},
		{"//gpu:assume narrow, aligned", []driver.Fit{{Narrow: true, Aligned: true}}},
	}
	var kernels []string
	for _, c := range cases {
		kernels = append(kernels, strings.TrimSpace(c.directive+kernel))
	}
	compiled := inOnePackage(t, "//gpu:kernel\n", kernels)
	for i, c := range cases {
		t.Run(c.directive, func(t *testing.T) {
			k, want := compiled[i], c.want
			var got []driver.Fit
			for _, v := range k.Variants {
				got = append(got, driver.Fit{Narrow: v.Narrow, Aligned: v.Aligned})
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("variants for %+v, want %+v", got, want)
			}
			assumed := driver.Fit{}
			if c.directive != "" {
				assumed = want[0]
			}
			if k.Assumes != assumed {
				t.Errorf("Assumes is %+v, want %+v", k.Assumes, assumed)
			}
			if k.Assumes.Narrow && fmt.Sprint(k.Integers) != "[8 16 32 40 48]" && fmt.Sprint(k.Integers) != "[8 32 48]" {
				t.Errorf("Integers are %v", k.Integers)
			}
		})
	}
}

// TestTwinOff compiles a kernel with a barrier, which would get a twin.
func TestTwinOff(t *testing.T) {
	const kernel = `
func f(t gpu.Thread, x []float32) {
	tile := gpu.Shared[[64]float32](t)
	i := t.ThreadX() & 63
	tile[i] = x[i]
	t.Sync()
	x[i] = tile[63-i]
}
`
	compiled := inOnePackage(t, "//gpu:kernel\n", []string{strings.TrimSpace(kernel), "//gpu:twin off" + kernel})
	for i, want := range []string{"twin with vector code", "coroutines: //gpu:twin off"} {
		if got := compiled[i].CPU; got != want {
			t.Errorf("kernel %d: %q, want %q", i, got, want)
		}
	}
}

func compileOne(t *testing.T, source string) *compile.Kernel {
	t.Helper()
	result := build(t, module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(source)}}}}))
	return result.Packages[0].Kernels[0]
}

// inOnePackage compiles kernels that are all named f, below the same directives, in one package. It returns them in their order.
func inOnePackage(t *testing.T, directives string, kernels []string) (list []*compile.Kernel) {
	t.Helper()
	var source strings.Builder
	source.WriteString("package k\n\nimport \"github.com/gopherwarp/gopherwarp/gpu\"\n")
	name := func(i int) string { return fmt.Sprint("f", i) }
	for i, k := range kernels {
		source.WriteString("\n" + directives + strings.Replace(k, "func f(", "func "+name(i)+"(", 1) + "\n")
	}
	compiled := compileAll(t, source.String())
	for i := range kernels {
		list = append(list, compiled[name(i)])
	}
	return list
}

// compileAll compiles a package and returns its kernels by name.
func compileAll(t *testing.T, source string) map[string]*compile.Kernel {
	t.Helper()
	result := build(t, module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(source)}}}}))
	return byName(result)
}

// byName returns the kernels of the first package by name.
func byName(result *compile.Result) map[string]*compile.Kernel {
	kernels := map[string]*compile.Kernel{}
	for _, k := range result.Packages[0].Kernels {
		kernels[k.Name] = k
	}
	return kernels
}
