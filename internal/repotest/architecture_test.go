package repotest

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
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
	now := session.ReplaceAllStringFunc(old, func(block string) string {
		m := session.FindStringSubmatch(block)
		c := exec.Command("sh", "-c", m[1])
		c.Dir = "../.."
		c.Env = append(os.Environ(), "GOPHERWARP_DEVICE=cpu")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", m[1], err, out)
		}
		if diff := cmp.Diff(m[2], string(out)); diff != "" && !*update {
			t.Errorf("ARCHITECTURE.md is behind what this prints (-then +now):\n%s\n%s\nto rewrite it, go test ./internal/repotest -run TestArchitecture -update", m[1], diff)
		}
		return "```console\n$ " + m[1] + "\n" + string(out) + "```\n"
	})
	if *update && now != old {
		if err := os.WriteFile("../../ARCHITECTURE.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
