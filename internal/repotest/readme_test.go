package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fenced matches a fenced block of README.md below a comment that says what it is.
var fenced = regexp.MustCompile("(?s)<!-- (file: )?(\\S+) -->\n```\\w+\n(.*?)```\n")

// TestReadmeProgram does what a reader does: types the README's program in, in a module of
// its own outside this repository, generates and runs it, edits the kernel, runs again.
func TestReadmeProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs, which takes a while; not in -short")
	}
	blocks := map[string]string{}
	for _, m := range fenced.FindAllStringSubmatch(string(load(t).files["README.md"]), -1) {
		blocks[m[2]] = m[3]
	}
	u := newUser(t, blocks["main.go"])

	for _, command := range strings.Split(strings.TrimSpace(blocks["commands"]), "\n") {
		u.run(strings.Fields(command)...)
	}
	if want := "[4 10 18] on "; !strings.HasPrefix(u.printed, want) {
		t.Errorf("the README's program printed %q, want %q and a device", u.printed, want)
	}
	generated := u.read("zkernels.go")
	if !strings.Contains(generated, "// Multiply stores the element-wise product of a and b in c.\n") {
		t.Errorf("the launcher lacks the kernel's comment:\n%s", generated)
	}

	u.write("main.go", strings.ReplaceAll(blocks["main.go"], "a[i] * b[i]", "a[i] - b[i]*2"))
	u.run("go", "tool", "gopherwarp", "run", ".")
	if want := "[-7 -8 -9] on "; !strings.Contains(u.printed, want) {
		t.Errorf("the edited program printed %q, want %q and a device", u.printed, want)
	}
}

// user is somebody's module outside the repository.
type user struct {
	t       *testing.T
	dir     string
	printed string // by the last command
}

// newUser makes a module with the given program that takes this repository from the disk.
// What the go command downloads for it are this repository's own dependencies.
func newUser(t *testing.T, program string) *user {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, dir: t.TempDir()}
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	t.Setenv("CGO_ENABLED", "0")
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	u.run("go", "mod", "init", "example.com/try")
	u.run("go", "mod", "edit", "-go=1.26.0", "-require="+module+"@v0.0.0", "-replace="+module+"="+root, "-tool="+module+"/cmd/gopherwarp")
	u.write("go.sum", string(load(t).files["go.sum"]))
	u.write("main.go", program)
	return u
}

// run runs a command in the user's folder.
func (u *user) run(command ...string) {
	u.t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir = u.dir
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		u.t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, out, stderr.String())
	}
	u.printed = string(out)
}

func (u *user) write(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) read(name string) string {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join(u.dir, name))
	if err != nil {
		u.t.Fatal(err)
	}
	return string(text)
}
