package public_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestReadOnlyLoads compiles a kernel whose launch test has many products, most of them repeated. Its loads use the read-only
// cache where the launcher knows that slices do not overlap.
func TestReadOnlyLoads(t *testing.T) {
	r, err := compile.Build(t.Context(), compile.Options{Patterns: []string{"."}, Twins: compile.TwinsNone})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Packages[0].Kernels {
		if k.Name == "hotspot3D" {
			for _, v := range k.Variants {
				if n := strings.Count(v.PTX.String(), "ld.global.nc.f32"); n < 7 {
					t.Errorf("%s has %d loads by the read-only cache, want at least the 7 of its last layer", k.Name, n)
				}
			}
			return
		}
	}
	t.Error("there is no kernel hotspot3D")
}
