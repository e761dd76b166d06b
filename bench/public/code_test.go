package public_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/harness/harnesstest"
	"github.com/gopherwarp/gopherwarp/bench/public"
	"github.com/gopherwarp/gopherwarp/cpu"
)

// TestReadOnlyLoads looks at the code of a kernel whose launch test has many products, most of them repeated. Its loads use the read-only
// cache where the launcher knows that slices do not overlap.
func TestReadOnlyLoads(t *testing.T) {
	const name = "hotspot3D"
	dev := harnesstest.Opened(t, cpu.Open)
	done := harnesstest.Watch(t, dev)
	cases := public.Suite().Cases
	i := slices.IndexFunc(cases, func(c harness.Case) bool { return c.Name == name })
	b, w := harnesstest.Prepare(t, dev, cases[i])
	if err := b.Verify(t.Context(), w, w.Contenders(nil)[0]); err != nil {
		t.Fatal(err)
	}
	k := done.Kernel(t, name)
	if len(k.Variants) == 0 {
		t.Errorf("%s has no code", k.Name)
	}
	for _, v := range k.Variants {
		code, err := v.PTX.Plain()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(code, "ld.global.nc.f32"); n < 7 {
			t.Errorf("%s has %d loads by the read-only cache, want at least the 7 of its last layer", k.Name, n)
		}
	}
}
