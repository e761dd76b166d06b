package main

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// TestRun runs all cases on small arrays, which checks their results.
func TestRun(t *testing.T) {
	for name, open := range map[string]func() (*device.Device, error){"cpu": cpu.Open, "interp": ptxinterp.Open} {
		t.Run(name, func(t *testing.T) {
			if name != "cpu" {
				ondemand.NeedsCode(t)
			}
			dev, err := open()
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := run(&out, dev, size{bytes: 1 << 14, rows: 1, launches: 1}, ""); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "\n"); got != len(cases)+1 {
				t.Errorf("%d lines of %d cases:\n%s", got, len(cases), &out)
			}
		})
	}
}
