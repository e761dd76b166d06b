package mutation_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/mutation"
	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
)

var (
	mutations = flag.Int("mutations", 0, "how many mutants to test; takes about ten seconds each")
	skip      = flag.Int("skip", 0, "how many of them were tested before")
	seed      = flag.Uint64("seed", 1, "of the choice of mutants")
	kernels   = flag.Int("kernels", 200, "random kernels for each mutant that the conformance suite lets pass")
)

// limit is for one mutant: one that runs for longer is caught.
const limit = 5 * time.Minute

// compiler are the packages in which mistakes are made.
var compiler = []string{"internal/frontend", "internal/pass", "internal/analysis", "internal/backend/ptx"}

// place is a site in a file.
type place struct {
	file string
	mutation.Site
}

// TestMutants reports the mutants that live.
func TestMutants(t *testing.T) {
	if *mutations == 0 {
		t.Skip("mutants take long: ask for some by -mutations=100 -timeout=0")
	}
	b := newBench(t)
	places := b.places()
	r := rand.New(rand.NewPCG(*seed, 0))
	caught := map[string]int{}
	for n := 0; n < *mutations; {
		p := places[r.IntN(len(places))]
		how, ok := "tested before", true
		if n >= *skip {
			how, ok = b.try(p)
		}
		if !ok {
			continue // it is no Go
		}
		n++
		by, _, _ := strings.Cut(how, ":")
		caught[by]++
		t.Logf("%s:%d: %s: %s", p.file, p.Line, p.What, how)
	}
	t.Logf("of %d mutants: %v", *mutations, caught)
}

// bench is what all mutants share: random kernels, and what is right about them.
type bench struct {
	t    *testing.T
	root string
	dir  string
}

func newBench(t *testing.T) bench {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(root, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	b := bench{t, root, c.Dir()}
	var list []progen.Kernel
	for i := range *kernels {
		list = append(list, progen.New(1, i))
	}
	var known struct { // as the judge has it
		Trials  []*trial.Trial
		Results []trial.Result
	}
	if known.Trials, known.Results, err = c.Native(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(known); err != nil {
		t.Fatal(err)
	}
	b.write("known", text.Bytes())
	b.write("overlay.json", []byte("{}"))
	if out, err := b.judge("-learn"); err != nil || strings.TrimSpace(out) != "" {
		t.Fatalf("the compiler itself is wrong: %v\n%s", err, out)
	}
	return b
}

func (b bench) write(name string, text []byte) {
	if err := os.WriteFile(filepath.Join(b.dir, name), text, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// places returns the sites of the compiler, tests left out.
func (b bench) places() []place {
	var found []place
	for _, dir := range compiler {
		names, err := filepath.Glob(filepath.Join(b.root, dir, "*.go"))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, name := range names {
			file := dir + "/" + filepath.Base(name)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			sites, err := mutation.Sites(file, b.read(file))
			if err != nil {
				b.t.Fatal(err)
			}
			for _, s := range sites {
				found = append(found, place{file, s})
			}
		}
	}
	return found
}

func (b bench) read(file string) []byte {
	text, err := os.ReadFile(filepath.Join(b.root, file))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// try builds a judge with a mutant and returns its verdict, or false where the mutant is no Go.
func (b bench) try(p place) (verdict string, ok bool) {
	b.write("mutant.go", p.Apply(b.read(p.file)))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(b.root, p.file): filepath.Join(b.dir, "mutant.go"),
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.write("overlay.json", overlay)
	out, err := b.judge()
	switch {
	case err != nil && strings.HasPrefix(out, "#"):
		return "", false
	case err != nil:
		return "caught by a crash: " + err.Error(), true
	}
	return strings.TrimSpace(out), true
}

// judge builds the judge, by the overlay, and runs it.
func (b bench) judge(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	name := filepath.Join(b.dir, "judge.exe")
	out, err := b.run(ctx, "go", "build", "-overlay="+filepath.Join(b.dir, "overlay.json"), "-ldflags=-s -w", "-o", name, "./internal/mutation/judge")
	if err != nil {
		return "#" + out, err
	}
	return b.run(ctx, name, append(args, "-root="+b.root, "-random="+b.dir)...)
}

// run runs a command that may hang, or want all memory.
func (b bench) run(ctx context.Context, name string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err != nil {
		first, _, _ := strings.Cut(out.String(), "\n")
		err = fmt.Errorf("%w: %s", err, first)
	}
	return out.String(), err
}
