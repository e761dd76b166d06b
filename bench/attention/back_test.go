package main

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// TestBack measures a small problem: the check of its derivatives must pass.
func TestBack(t *testing.T) {
	p := problem{prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 16, Causal: true}, []sequence{{40, 40}, {7, 7}}, false}
	for _, name := range []string{"interp", "scalar", "cuda"} {
		t.Run(name, func(t *testing.T) {
			if _, err := p.measureBack(kerneltest.Stream(t, kerneltest.Executions()[name]), 47); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestCheckBack passes derivatives that are wrong.
func TestCheckBack(t *testing.T) {
	p := problem{Shape: prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 16}}
	for wrong, list := range []string{4: "results", 6: "keys", 7: "values"} {
		if list == "" {
			continue
		}
		var host [8][]dtype.BF16
		for i := range host {
			host[i] = make([]dtype.BF16, 200*16)
		}
		if err := p.checkBack(host[:]); err != nil {
			t.Fatal(err)
		}
		for i := range host[wrong] {
			host[wrong][i] = dtype.BF16From32(1)
		}
		if err := p.checkBack(host[:]); err == nil {
			t.Errorf("no error for derivatives with respect to %s", list)
		}
	}
}
