package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// TestRun trains the small models, of which the graph computes what the operations do.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		large  bool
		models int
	}{{false, 2}, {true, 1}} {
		dev, err := cpu.Open()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := run(t.Context(), &out, dev, options{small: true, large: c.large, steps: 1}); err != nil {
			t.Fatal(err)
		}
		losses := regexp.MustCompile(`(eager|graph).* loss after 10 steps (\d\.\d+)`).FindAllStringSubmatch(out.String(), -1)
		if len(losses) != 2*c.models {
			t.Fatalf("%s", out.String())
		}
		for i := range c.models {
			if losses[2*i][2] != losses[2*i+1][2] {
				t.Errorf("%s", out.String())
			}
		}
		t.Logf("%s", out.String())
	}
}
