package repotest

import (
	"bytes"
	"hash/fnv"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// architectures are the targets of ptxas 13, which no longer knows sm_70. What is for one alone
// (sm_90a) is assembled for that one.
var architectures = []int{75, 80, 86, 89, 90, 100, 120}

// target matches what a PTX file is for.
var target = regexp.MustCompile(`(?m)^\.target sm_(\d+)(a?)$`)

// TestAssembled has ptxas take every generated PTX file: for the lowest architecture that it is for,
// for the highest, and for one between, which its contents choose. Nothing is optimised: it is the text that is judged.
func TestAssembled(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH; .ci/run fetches it from a package of NVIDIA's")
	}
	start, n := time.Now(), 0
	var group sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	seen := map[string]bool{}
	for name, text := range load(t).files {
		m := target.FindSubmatch(text)
		if !strings.HasSuffix(name, ".ptx") || m == nil || seen[string(text)] {
			continue
		}
		seen[string(text)] = true
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
	t.Logf("%d files, %d times in %v", len(seen), n, time.Since(start).Round(time.Second))
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
