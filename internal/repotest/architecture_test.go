package repotest

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"testing"
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
		if string(out) != m[2] && !*update {
			t.Errorf("%s prints\n%s\nbut ARCHITECTURE.md says\n%s\ngo test ./internal/repotest -update rewrites it", m[1], out, m[2])
		}
		return "```console\n$ " + m[1] + "\n" + string(out) + "```\n"
	})
	if *update && now != old {
		if err := os.WriteFile("../../ARCHITECTURE.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
