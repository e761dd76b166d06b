package repotest

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"os/exec"
	"regexp"
	"runtime"
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

// TestAssembled compiles every kernel of the repository and has ptxas take the PTX: for the lowest architecture that
// it is for, for the highest, and for one between, which its contents choose. ptxas does not optimise: the
// test judges the text.
func TestAssembled(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH; .ci/run fetches it from a package of NVIDIA's")
	}
	start, n := time.Now(), 0
	var group sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	seen := map[string]bool{}
	for name, text := range everyPTX(t) {
		m := target.FindSubmatch(text)
		if m == nil {
			t.Errorf("%s: no .target in its PTX", name)
			continue
		}
		seen[name] = true
		for _, arch := range architecturesFor(text, m) {
			n++
			group.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				command := exec.CommandContext(t.Context(), ptxas, "-O0", "-arch=sm_"+arch, "-", "-o", "/dev/null")
				command.Stdin = bytes.NewReader(text)
				if out, err := command.CombinedOutput(); err != nil {
					t.Errorf("%s for sm_%s: %v\n%s", name, arch, err, out)
				}
			})
		}
	}
	group.Wait()
	t.Logf("%d texts, %d times in %v", len(seen), n, time.Since(start).Round(time.Second))
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

// architecturesFor returns those that a file is assembled for, the lowest first.
func architecturesFor(text []byte, m [][]byte) []string {
	if len(m[2]) > 0 {
		return []string{string(m[1]) + "a"}
	}
	least, _ := strconv.Atoi(string(m[1]))
	var all []string
	for _, a := range architectures {
		if a >= least {
			all = append(all, strconv.Itoa(a))
		}
	}
	if len(all) < 4 {
		return all
	}
	h := fnv.New32a()
	h.Write(text)
	between := all[1 : len(all)-1]
	return []string{all[0], between[h.Sum32()%uint32(len(between))], all[len(all)-1]}
}
