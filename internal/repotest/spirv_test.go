package repotest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestValidSPIRV translates the kernels of the repository, or of a few packages in go test, to SPIR-V, for a device with
// subgroups of 32 lanes, and has the result checked by spirv-val. What the translation refuses must be among the features
// that Vulkan's devices lack.
func TestValidSPIRV(t *testing.T) {
	validator, err := exec.LookPath("spirv-val")
	if err != nil {
		t.Skip("spirv-val is not in PATH; it is part of the package spirv-tools")
	}
	var group sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	valid, refused := 0, 0
	for name, text := range everyPTX(t, translatedIn()...) {
		m, err := ptx.Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range m.Funcs {
			words, err := translated(m, f)
			switch {
			case words != nil:
				valid++
			case errors.Is(err, ptxspirv.ErrUnsupported) && lacking(err):
				refused++
				continue
			default:
				t.Errorf("%s: %v", name, err)
				continue
			}
			group.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				command := exec.CommandContext(t.Context(), validator, "--target-env", "vulkan1.2", "-")
				command.Stdin = bytes.NewReader(words)
				if out, err := command.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
			})
		}
	}
	group.Wait()
	t.Logf("%d kernels are valid, %d need what Vulkan lacks", valid, refused)
}

// translatedIn returns patterns of the packages whose kernels TestValidSPIRV translates.
func translatedIn() []string {
	if sweep.Whole() {
		return []string{"./..."}
	}
	return []string{
		"./examples/...", "./internal/kernels/norm", "./internal/kernels/sampling", "./internal/verify/conformance/control",
		"./internal/verify/conformance/threads", "./internal/verify/conformance/words",
	}
}

// translated returns a kernel as the bytes of SPIR-V.
func translated(m *ptx.Module, f *ptx.Func) ([]byte, error) {
	block := [3]int{64, 1, 1}
	if f.ReqThreads[0] > 0 {
		block = f.ReqThreads
	}
	p, err := ptxspirv.Translate(m, f.Name, ptxspirv.Options{Block: block, Shared: 64, Subgroup: 32})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = binary.Write(&out, binary.LittleEndian, p.Words)
	return out.Bytes(), err
}

// lacking reports whether a kernel is refused for an instruction that no Vulkan device has: asynchronous copies in bulk and their
// barriers, tensor cores, clusters, clocks, and atomic operations on 64 bits of shared memory.
func lacking(err error) bool {
	for _, what := range []string{"mbarrier", "bulk", "wgmma", "mma.sync", "ldmatrix", "cluster", "%clock", "8 bytes in shared memory"} {
		if strings.Contains(err.Error(), what) {
			return true
		}
	}
	return false
}
