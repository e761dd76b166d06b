package repotest

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/compile"
)

// architectures are the targets of ptxas 13, which no longer knows sm_70. What is for one alone
// (sm_90a) is assembled for that one.
var architectures = []int{75, 80, 86, 89, 90, 100, 120}

// target matches what a PTX file is for.
var target = regexp.MustCompile(`(?m)^\.target sm_(\d+)(a?)$`)

// TestAssembled compiles every kernel of the repository and has ptxas check the PTX for three architectures: the lowest that
// it is for, the highest, and one between, which its contents choose. For one of the three, which they choose too, ptxas also
// generates code, without optimising it. That takes seven times as long, and finds what does not depend on the architecture, such as
// too much shared memory.
func TestAssembled(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH; .ci/run fetches it from a package of NVIDIA's")
	}
	a, n := assembler{command: ptxas, dir: t.TempDir(), batches: map[string][]*batch{}}, 0
	texts := everyPTX(t)
	start := time.Now()
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		m := target.FindSubmatch(text)
		if m == nil {
			t.Errorf("%s: no .target in its PTX", name)
			continue
		}
		file := input{name, filepath.Join(a.dir, fmt.Sprint(i, ".ptx"))}
		if err := os.WriteFile(file.path, renumbered(text, 1000*i), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, arch := range targetsFor(text, m) {
			n++
			a.add(arch, file, text)
		}
	}
	a.assemble(t)
	t.Logf("%d texts, %d times in %v", len(texts), n, time.Since(start).Round(time.Second))
}

// entry matches what a PTX file calls a kernel.
var entry = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`)

// fileNumber matches what names a source file by its number.
var fileNumber = regexp.MustCompile(`(?m)^\s*\.(file|loc) (\d+)`)

// renumbered returns PTX whose source files have the numbers after the given one, because ptxas demands that those of a batch differ.
func renumbered(text []byte, base int) []byte {
	return fileNumber.ReplaceAllFunc(text, func(found []byte) []byte {
		m := fileNumber.FindSubmatch(found)
		n, _ := strconv.Atoi(string(m[2]))
		return fmt.Appendf(nil, "\t.%s %d", m[1], base+n)
	})
}

// assembler runs ptxas on batches of files, because it takes longer to start than to assemble most files.
type assembler struct {
	command, dir string
	batches      map[string][]*batch // by the target for ptxas
}

// batch is files that ptxas takes at once. It judges each by its own .version and .target, but demands that their kernels have different names.
type batch struct {
	files   []input
	kernels map[string]bool
}

// input is a file with the PTX of the given name.
type input struct{ name, path string }

// add adds a file to a batch of a target.
func (a *assembler) add(arch string, file input, text []byte) {
	const most = 32 // files in a batch
	var kernels []string
	for _, m := range entry.FindAllSubmatch(text, -1) {
		kernels = append(kernels, string(m[1]))
	}
	for _, b := range a.batches[arch] {
		if len(b.files) < most && !slices.ContainsFunc(kernels, func(k string) bool { return b.kernels[k] }) {
			b.add(file, kernels)
			return
		}
	}
	b := &batch{kernels: map[string]bool{}}
	b.add(file, kernels)
	a.batches[arch] = append(a.batches[arch], b)
}

func (b *batch) add(file input, kernels []string) {
	b.files = append(b.files, file)
	for _, k := range kernels {
		b.kernels[k] = true
	}
}

// assemble runs ptxas on all batches. If it refuses a batch, or crashes, as it does for a few of them, assemble runs it on each file of the
// batch and reports those that it refuses.
func (a *assembler) assemble(t *testing.T) {
	var group sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for arch, batches := range a.batches {
		for _, b := range batches {
			group.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				if _, err := a.run(t.Context(), arch, b.files...); err == nil {
					return
				}
				for _, file := range b.files {
					if out, err := a.run(t.Context(), arch, file); err != nil {
						t.Errorf("%s for %s: %v\n%s", file.name, arch, err, out)
					}
				}
			})
		}
	}
	group.Wait()
}

// run runs ptxas on files and returns what it prints.
func (a *assembler) run(ctx context.Context, arch string, files ...input) ([]byte, error) {
	args := []string{"-O0", "-arch=" + arch, "-o", os.DevNull}
	for _, file := range files {
		args = append(args, file.path)
	}
	return exec.CommandContext(ctx, a.command, args...).CombinedOutput()
}

// everyPTX compiles the kernels of the packages that match the patterns, or of all packages, and returns the distinct texts of their
// variants, by a name that contains the kernel and a number.
func everyPTX(t *testing.T, patterns ...string) map[string][]byte {
	t.Helper()
	compiled := func() (map[string][]byte, error) { return compilePTX(t.Context(), patterns...) }
	if len(patterns) == 0 {
		compiled = wholePTX
	}
	texts, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// wholePTX is compilePTX of all packages, once for all tests.
var wholePTX = sync.OnceValues(func() (map[string][]byte, error) { return compilePTX(context.Background(), "./...") })

func compilePTX(ctx context.Context, patterns ...string) (map[string][]byte, error) {
	result, err := compile.Build(ctx, compile.Options{Dir: "../..", Patterns: patterns, Twins: compile.TwinsNone})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		return nil, err
	}
	texts, seen := map[string][]byte{}, map[string]bool{}
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			for i, v := range k.Variants {
				if text := v.PTX.String(); !seen[text] {
					seen[text] = true
					texts[fmt.Sprintf("%s.%s/%d", p.Path, k.Name, i)] = []byte(text)
				}
			}
		}
	}
	return texts, nil
}

// targetsFor returns the targets that ptxas checks a file for, the lowest architecture first: sm_75 where it generates code, and compute_75
// where it checks the text alone.
func targetsFor(text []byte, m [][]byte) []string {
	if len(m[2]) > 0 {
		return []string{fmt.Sprintf("sm_%sa", m[1])}
	}
	least, _ := strconv.Atoi(string(m[1]))
	h := fnv.New32a()
	h.Write(text)
	chosen := architecturesFrom(least, h.Sum32())
	var targets []string
	for i, a := range chosen {
		kind := "compute"
		if i == int(h.Sum32()>>16)%len(chosen) {
			kind = "sm"
		}
		targets = append(targets, fmt.Sprintf("%s_%d", kind, a))
	}
	return targets
}

// architecturesFrom returns the lowest architecture that is not below the least, the highest, and one between, which the hash chooses.
func architecturesFrom(least int, hash uint32) []int {
	all := slices.DeleteFunc(slices.Clone(architectures), func(a int) bool { return a < least })
	if len(all) < 4 {
		return all
	}
	between := all[1 : len(all)-1]
	return []int{all[0], between[hash%uint32(len(between))], all[len(all)-1]}
}
