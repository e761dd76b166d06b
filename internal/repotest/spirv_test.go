package repotest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestValidSPIRV translates the kernels of the repository, or of a few packages in go test, to SPIR-V for two devices, and has the results,
// or a twentieth of them, checked by spirv-val. What the translation refuses must be among the features that Vulkan's devices lack.
func TestValidSPIRV(t *testing.T) {
	validator, err := exec.LookPath("spirv-val")
	if err != nil {
		t.Skip("spirv-val is not in PATH; it is part of the package spirv-tools")
	}
	var group sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	translations, refused := 0, 0
	texts := everyPTX(t, translatedIn()...)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		m, err := ptx.Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range m.Funcs {
			for _, o := range spirvDevices {
				words, err := translated(m, f, o)
				switch {
				case words != nil:
					translations++
				case errors.Is(err, ptxspirv.ErrUnsupported) && lacking(err):
					refused++
					continue
				default:
					t.Errorf("%s: %v", name, err)
					continue
				}
				if !sweep.Every(20, translations) {
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
	}
	group.Wait()
	t.Logf("%d translations, %d kernels need what Vulkan lacks", translations, refused)
}

// spirvDevices are devices for which TestValidSPIRV translates: the least that Vulkan demands of all, and the most that translations use.
var spirvDevices = []ptxspirv.Options{
	{Subgroup: 8, Push: 128},
	{Subgroup: 32, Push: 256, Views: ptxspirv.Views{Any: true, Half: true, Bytes: true, Atomics64: true}, Arithmetic: ptxspirv.Arithmetic{
		Fused: true, SignedZero: [2]bool{true, true}, Denormals: [2]bool{true, true}, Nearest: [2]bool{true, true},
	}},
}

// translatedIn returns patterns of the packages whose kernels TestValidSPIRV translates, or none for all packages.
func translatedIn() []string {
	if sweep.Whole() {
		return nil
	}
	return []string{
		"./examples/matmul", "./internal/kernels/sampling", "./internal/verify/conformance/control", "./internal/verify/conformance/clusters",
		"./internal/verify/conformance/threads",
	}
}

// translated returns a kernel as the bytes of SPIR-V for a device.
func translated(m *ptx.Module, f *ptx.Func, o ptxspirv.Options) ([]byte, error) {
	o.Block, o.Shared = [3]int{64, 1, 1}, 64
	if f.ReqThreads[0] > 0 {
		o.Block = f.ReqThreads
	}
	if slices.ContainsFunc(f.Code, func(in ptx.Instr) bool { return in.Op == "barrier" }) { // of a cluster
		o.Cluster = [3]int{2, 2, 1}
	}
	p, err := ptxspirv.Translate(m, f.Name, o)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = binary.Write(&out, binary.LittleEndian, p.Words)
	return out.Bytes(), err
}

// lacking reports whether a kernel is refused for an instruction that no Vulkan device has: asynchronous copies in bulk and their
// barriers, tensor cores, and clocks.
func lacking(err error) bool {
	for _, what := range []string{"mbarrier", "bulk", "wgmma", "mma.sync", "ldmatrix", "%clock"} {
		if strings.Contains(err.Error(), what) {
			return true
		}
	}
	return false
}
