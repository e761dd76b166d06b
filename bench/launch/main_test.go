package main

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

// TestRun measures on the best available device, with a tenth of the samples, because the race detector slows launches down.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	var w, asJSON strings.Builder
	if err := run(t.Context(), output{&w, &asJSON}, "", samples/10); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"launch, 0 arguments: ", "launch, 16 arguments: ", "graph of 100 kernels: ", "call, Go: "} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("%q lacks %q", w.String(), want)
		}
	}
	r, err := report.ReadJSON(strings.NewReader(asJSON.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"launch-0", "launch-16", "graph-100"} {
		if c := r.Case(name); c == nil || c.By(report.Ours) == nil {
			t.Errorf("the JSON lacks %s: %s", name, asJSON.String())
		}
	}
}
