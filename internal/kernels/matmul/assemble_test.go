package matmul_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestAssemble has ptxas judge the versions that multiply panels: where a register of an accumulator is touched between products
// it runs them one by one, and says so, as it does where registers do not suffice.
func TestAssemble(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas in PATH to judge the PTX")
	}
	files, err := filepath.Glob("z*.sm_90a*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no PTX for sm_90a: %v", err)
	}
	wrong := regexp.MustCompile(`.*(serialized|injected|setmaxnreg.*ignored|[1-9]\d* bytes (stack frame|spill)).*`)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			said, err := exec.Command(ptxas, "-v", "-arch=sm_90a", "-o", os.DevNull, file).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if line := wrong.Find(said); line != nil {
				t.Errorf("%s", line)
			}
		})
	}
}
