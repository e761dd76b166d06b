package repotest

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// slow matches what ptxas reports of a kernel whose asynchronous products do not overlap, or whose values do not fit
// in registers.
var slow = regexp.MustCompile(`.*(serialized|injected|setmaxnreg.*ignored|[1-9]\d* bytes (stack frame|spill)).*`)

// TestProductsOverlap has ptxas optimise the kernels that multiply panels. If it cannot prove that nothing touches the
// registers of a product, it runs the products one after another, and reports that.
func TestProductsOverlap(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH; .ci/run fetches it from a package of NVIDIA's")
	}
	options := compile.Options{Dir: "../..", Patterns: []string{"./internal/kernels/attention", "./internal/kernels/conv", "./internal/kernels/gemm", "./internal/kernels/matmul"}, Twins: compile.TwinsNone}
	result, err := compile.Build(t.Context(), options)
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range result.Packages {
		n := 0
		for _, k := range p.Kernels {
			for _, v := range k.Variants {
				if !v.Exact {
					continue
				}
				n++
				t.Run(fmt.Sprintf("%s/narrow=%t,aligned=%t", k.Name, v.Narrow, v.Aligned), func(t *testing.T) {
					command := exec.CommandContext(t.Context(), ptxas, "-v", "-arch=sm_90a", "-o", os.DevNull, "-")
					command.Stdin = strings.NewReader(v.PTX.String())
					report, err := command.CombinedOutput()
					if err != nil {
						t.Fatalf("%v\n%s", err, report)
					}
					if line := slow.Find(report); line != nil {
						t.Errorf("%s", line)
					}
				})
			}
		}
		if n == 0 {
			t.Errorf("no kernel of %s has code for sm_90a", p.Path)
		}
	}
}
