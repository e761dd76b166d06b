package main

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
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
		t.Run(name, func(t *testing.T) {
			if name != "native" {
				ondemand.NeedsCode(t)
			}
			steps(t, open)
		})
	}
}

// steps runs small models in all forms, directly and as graphs.
func steps(t *testing.T, open kerneltest.Opener) {
	s := kerneltest.Stream(t, open)
	for i, of := range small {
		m, err := newModel(s, of, all(matvec.Form{}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.expect(true)
		if err != nil {
			t.Fatal(err)
		}
		for j, form := range []matvec.Form{{Threads: 96}, {Threads: 64, Blocks: 3}, {}} {
			if err := m.setForms(all(form)); err != nil {
				t.Fatal(err)
			}
			m.oneKernel = form.Blocks > 0
			if s.Device().Info().Kind == "cuda" || sweep.Every(2, i+j) {
				m.test(t, want, func() error { return m.step(s) })
			}
			if s.Device().Info().Kind == "cuda" || sweep.Every(2, i+j+1) {
				m.testGraph(t, want)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// test checks a step.
func (m *model) test(t *testing.T, want results, run func() error) {
	t.Helper()
	d, err := m.check(run, want)
	if err != nil || !(d.residual <= tolerance && d.logits <= tolerance) {
		t.Errorf("%+v, %v: %+v, %v", m.shape, m.forms, d, err)
	}
}

// testGraph checks a step as a graph.
func (m *model) testGraph(t *testing.T, want results) {
	t.Helper()
	g, err := m.stream.Device().Capture(m.step)
	if err != nil {
		t.Fatal(err)
	}
	m.test(t, want, func() error { return g.Launch(m.stream) })
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// all returns the same form for all matrices.
func all(f matvec.Form) [kinds]matvec.Form { return [kinds]matvec.Form{f, f, f, f, f} }
