package frontend_test

import (
	"fmt"
	"go/types"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

// TestMath lowers every exported function of package math and math/bits, each in a kernel
// of its own.
func TestMath(t *testing.T) {
	w := theWorld()
	for _, path := range []string{"math", "math/bits"} {
		p, err := w.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		fmt.Fprintf(&text, "package k\nimport (%q; %q)\n", project+"gpu", path)
		for _, name := range p.Scope().Names() {
			if fn, ok := p.Scope().Lookup(name).(*types.Func); ok && fn.Exported() {
				text.WriteString(caller(p, fn))
			}
		}
		kernels, _, err := w.kernels("k.go", text.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels {
			m, found := frontend.Build([]frontend.Kernel{k})
			if err := found.Err(); err != nil {
				t.Errorf("%s: %v", k.Func.Name(), err)
				continue
			}
			verify(t, m)
		}
	}
}

// caller returns a kernel that calls fn of package p.
func caller(p *types.Package, fn *types.Func) string {
	var args, results []string
	params := []string{"t gpu.Thread"}
	sig := fn.Signature()
	for i := range sig.Params().Len() {
		params = append(params, fmt.Sprintf("p%d %s", i, sig.Params().At(i).Type()))
		args = append(args, fmt.Sprintf("p%d", i))
	}
	for i := range sig.Results().Len() {
		params = append(params, fmt.Sprintf("r%d []%s", i, sig.Results().At(i).Type()))
		results = append(results, fmt.Sprintf("r%d[0]", i))
	}
	return fmt.Sprintf("//gpu:kernel\nfunc k%s(%s) {\n\t%s = %s.%s(%s)\n}\n", fn.Name(),
		strings.Join(params, ", "), strings.Join(results, ", "), p.Name(), fn.Name(), strings.Join(args, ", "))
}
