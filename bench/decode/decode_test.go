package main

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// tolerance is the largest relative distance of a small model's results from the reference. It is usually below 1e-6. But if a
// number of the device and that of the reference are on different sides of a boundary between two bfloat16 numbers, the difference
// spreads to all later ones.
const tolerance = 5e-3

// small are models whose rows are no multiples of what a warp, or a block, works on.
var small = []shape{
	{layers: 2, hidden: 256, heads: 4, keyHeads: 1, inner: 264, vocabulary: 100, position: 0},
	{layers: 2, hidden: 264, heads: 8, keyHeads: 2, inner: 1032, vocabulary: 500, position: 64},
}

func TestStep(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) { steps(t, open) })
	}
}

// steps runs small models in all forms, directly and as graphs.
func steps(t *testing.T, open kerneltest.Opener) {
	s := kerneltest.Stream(t, open)
	for _, of := range small {
		for _, forms := range [][kinds]matvec.Form{
			all(matvec.Form{Threads: 96}), all(matvec.Form{Threads: 64, Blocks: 3}), all(matvec.Form{}),
		} {
			m, err := newModel(s, of, forms)
			if err != nil {
				t.Fatal(err)
			}
			m.oneKernel = forms[0].Blocks > 0
			g, err := s.Device().Capture(m.step)
			if err != nil {
				t.Fatal(err)
			}
			for name, run := range map[string]func() error{"stream": func() error { return m.step(s) }, "graph": func() error { return g.Launch(s) }} {
				d, err := m.check(run, true)
				if err != nil || !(d.residual <= tolerance && d.logits <= tolerance) {
					t.Errorf("%+v, %v, %s: %+v, %v", of, forms, name, d, err)
				}
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// all returns the same form for all matrices.
func all(f matvec.Form) [kinds]matvec.Form { return [kinds]matvec.Form{f, f, f, f, f} }
