package main

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// TestRun runs small cases, which checks their results.
func TestRun(t *testing.T) {
	for name, open := range map[string]func() (*device.Device, error){"cpu": cpu.Open, "interp": ptxinterp.Open} {
		t.Run(name, func(t *testing.T) {
			dev, err := open()
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := run(&out, dev, size{heads: 8, keyHeads: 2, dim: 64, layers: 2, most: 128, sequences: 8, launches: 1}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "\n"); got != 4 {
				t.Errorf("%d lines:\n%s", got, &out)
			}
		})
	}
}
