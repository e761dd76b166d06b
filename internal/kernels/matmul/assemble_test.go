package matmul_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestAssemble has ptxas judge the versions that multiply panels: where a register of an accumulator is touched between products
// it runs them one by one, and says so, as it does where registers do not suffice.
func TestAssemble(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas in PATH to judge the PTX")
	}
	result, err := compile.Build(t.Context(), compile.Options{Twins: compile.TwinsNone})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	wrong := regexp.MustCompile(`.*(serialized|injected|setmaxnreg.*ignored|[1-9]\d* bytes (stack frame|spill)).*`)
	for _, k := range result.Packages[0].Kernels {
		for _, v := range k.Variants {
			if !v.Exact {
				continue
			}
			judged++
			t.Run(fmt.Sprintf("%s/narrow=%t,aligned=%t", k.Name, v.Narrow, v.Aligned), func(t *testing.T) {
				t.Parallel()
				command := exec.Command(ptxas, "-v", "-arch=sm_90a", "-o", os.DevNull, "-")
				command.Stdin = strings.NewReader(v.PTX)
				said, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
				if line := wrong.Find(said); line != nil {
					t.Errorf("%s", line)
				}
			})
		}
	}
	if judged == 0 {
		t.Error("no kernel has code for sm_90a")
	}
}
