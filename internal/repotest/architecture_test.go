package repotest

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what commands print in ARCHITECTURE.md")

// session matches a fenced block with a command and what it prints.
var session = regexp.MustCompile("(?s)```console\n\\$ (.*?)\n(.*?)```\n")

// TestArchitecture runs the commands of ARCHITECTURE.md, so that what it shows is true.
func TestArchitecture(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs, which takes a while; not in -short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands of ARCHITECTURE.md are those of a Unix shell")
	}
	old := string(load(t).files["ARCHITECTURE.md"])
	if len(session.FindString(old)) == 0 {
		t.Error("ARCHITECTURE.md has no ```console block with a command")
	}
	sh := shell{t, map[string]string{}}
	now := session.ReplaceAllStringFunc(old, func(block string) string {
		m := session.FindStringSubmatch(block)
		out := sh.run(m[1])
		if diff := cmp.Diff(m[2], out); diff != "" && !*update {
			t.Errorf("ARCHITECTURE.md differs from what this prints (-then +now):\n%s\n%s\nto rewrite it, go test ./internal/repotest -run TestArchitecture -update", m[1], diff)
		}
		return "```console\n$ " + m[1] + "\n" + out + "```\n"
	})
	if *update && now != old {
		if err := os.WriteFile("../../ARCHITECTURE.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shell runs pipelines, of which some begin with the same command: that is run once.
type shell struct {
	t       *testing.T
	printed map[string]string // by first commands
}

// run returns what a pipeline prints.
func (s shell) run(pipeline string) string {
	s.t.Helper()
	first, filter, filtered := strings.Cut(pipeline, " | ")
	if _, ok := s.printed[first]; !ok {
		s.printed[first] = s.command(first, "")
	}
	if !filtered {
		return s.printed[first]
	}
	return s.command(filter, s.printed[first])
}

// command returns what a command prints. What it says on standard error is no part of that, and there is to be none.
func (s shell) command(line, input string) string {
	s.t.Helper()
	c := exec.Command("sh", "-c", line)
	c.Dir = "../.."
	c.Env = append(os.Environ(), "GOPHERWARP_DEVICE=cpu", "GOGC=400") // commands end before they fill the memory
	c.Stdin = strings.NewReader(input)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil || said.Len() > 0 {
		s.t.Errorf("%s: %v\n%s%s", line, err, out, said.String())
	}
	return string(out)
}
