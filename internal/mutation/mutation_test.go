package mutation_test

import (
	"bytes"
	"context"
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
)

var (
	mutations = flag.Int("mutations", 0, "how many mutants to test; takes about a minute each")
	seed      = flag.Uint64("seed", 1, "of the choice of mutants")
	kernels   = flag.Int("kernels", 150, "random kernels for each mutant that the conformance suite lets pass")
)

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
	c := newCopy(t)
	places := c.places()
	r := rand.New(rand.NewPCG(*seed, 0))
	caught := map[string]int{}
	for n := 0; n < *mutations; {
		p := places[r.IntN(len(places))]
		by := c.try(p)
		if by == "" {
			continue // it is no Go
		}
		n++
		caught[by]++
		t.Logf("%s:%d: %s: %s", p.file, p.Line, p.What, by)
	}
	t.Logf("of %d mutants: %v", *mutations, caught)
}

// copied is a copy of the repository.
type copied struct {
	t         *testing.T
	dir       string
	generated map[string][]byte // the suite's generated files, by name
}

func newCopy(t *testing.T) copied {
	c := copied{t, t.TempDir(), map[string][]byte{}}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skip("no repository to copy: ", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed, and not yet committed
		}
		c.write(name, text)
		if strings.HasPrefix(name, "internal/conformance/") && strings.HasPrefix(filepath.Base(name), "z") {
			c.generated[name] = text
		}
	}
	return c
}

func (c copied) write(name string, text []byte) {
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		c.t.Fatal(err)
	}
}

func (c copied) read(name string) []byte {
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// places returns the sites of the compiler, tests left out.
func (c copied) places() []place {
	var found []place
	for _, dir := range compiler {
		names, err := filepath.Glob(filepath.Join(c.dir, dir, "*.go"))
		if err != nil {
			c.t.Fatal(err)
		}
		for _, name := range names {
			file := dir + "/" + filepath.Base(name)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			sites, err := mutation.Sites(file, c.read(file))
			if err != nil {
				c.t.Fatal(err)
			}
			for _, s := range sites {
				found = append(found, place{file, s})
			}
		}
	}
	return found
}

// try builds a mutant and says by what it is caught, or "" where it is no Go.
func (c copied) try(p place) string {
	source := c.read(p.file)
	defer c.restore(p.file, source)
	c.write(p.file, p.Apply(source))
	command := filepath.Join(c.dir, "gopherwarp.exe")
	if _, err := c.run("go", "build", "-o", command, "./cmd/gopherwarp"); err != nil {
		return ""
	}
	out, err := c.run(command, "build", "./internal/conformance/...")
	if err != nil {
		return "the build"
	}
	if _, err := c.run("go", "test", "./internal/conformance"); err != nil {
		return "the conformance suite"
	}
	random, err := c.run("go", "test", "./internal/progen", "-v", "-seed=1", fmt.Sprint("-kernels=", *kernels))
	switch {
	case err != nil && strings.Contains(random, "seed "):
		return "random programs"
	case err != nil:
		return "the build of random programs"
	case !strings.Contains(out, "wrote"):
		return "NOTHING, and no kernel of the suite differs"
	}
	return "NOTHING"
}

// restore undoes a mutation and what it did to the suite.
func (c copied) restore(name string, source []byte) {
	c.write(name, source)
	for name, text := range c.generated {
		c.write(name, text)
	}
}

// run runs a command that may hang.
func (c copied) run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return out.String(), err
}
