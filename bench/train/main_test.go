package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// TestRun trains the small models, of which the graph computes what the operations do.
func TestRun(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, dev, options{small: true, steps: 1}); err != nil {
		t.Fatal(err)
	}
	losses := regexp.MustCompile(`(eager|graph).* loss after 10 steps (\d\.\d+)`).FindAllStringSubmatch(out.String(), -1)
	if len(losses) != 4 || losses[0][2] != losses[1][2] || losses[2][2] != losses[3][2] {
		t.Errorf("%s", out.String())
	}
	t.Logf("%s", out.String())
}
