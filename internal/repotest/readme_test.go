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
	u := newUser(t)
	// The tool's own version is not to be asked for anywhere: it is this one.
	u.download()
	t.Setenv("GOPROXY", "off")
	setup := lines(blocks["setup"])
	u.run(setup[0]) // go mod init
	u.run("go mod edit -replace=" + module + "=" + u.root)
	u.write("go.sum", string(load(t).files["go.sum"]))
	for _, command := range setup[1:] {
		u.run(command)
	}
	u.write("main.go", blocks["main.go"])
	for _, command := range lines(blocks["commands"]) {
		u.run(command)
	}
	if want := "[4 10 18] on "; !strings.HasPrefix(u.printed, want) {
		t.Errorf("the README's program printed %q, want %q and a device", u.printed, want)
	}
	generated := u.read("zkernels.go")
	if !strings.Contains(generated, "// Multiply stores the element-wise product of a and b in c.\n") {
		t.Errorf("the launcher lacks the kernel's comment:\n%s", generated)
	}

	u.write("main.go", strings.ReplaceAll(blocks["main.go"], "a[i] * b[i]", "a[i] - b[i]*2"))
	if out := u.fails("go run ."); !strings.Contains(out, "run go generate in ") {
		t.Errorf("before go generate, the edited program printed %q, want an error that says what to run", out)
	}
	for _, command := range lines(blocks["commands"]) {
		u.run(command)
	}
	if want := "[-7 -8 -9] on "; !strings.HasPrefix(u.printed, want) {
		t.Errorf("the edited program printed %q, want %q and a device", u.printed, want)
	}
}

func lines(block string) []string { return strings.Split(strings.TrimSpace(block), "\n") }

// user is somebody's module outside the repository, which it takes from the disk.
type user struct {
	t         *testing.T
	root, dir string
	printed   string // by the last command
}

func newUser(t *testing.T) *user {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	t.Setenv("CGO_ENABLED", "0")
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	t.Setenv("GOGC", "400") // commands end before they fill the memory
	return &user{t: t, root: root, dir: t.TempDir()}
}

// download fills the module cache with the repository's dependencies. Where the network fails, what is there may do.
func (u *user) download() {
	u.t.Helper()
	c := exec.Command("go", "mod", "download")
	c.Dir = u.root
	if out, err := c.CombinedOutput(); err != nil {
		u.t.Logf("go mod download: %v\n%s", err, out)
	}
}

// fails runs a command line that must fail, and returns what it prints on standard error.
func (u *user) fails(line string) string {
	u.t.Helper()
	c := u.command(line)
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Run(); err == nil {
		u.t.Errorf("%s succeeds", line)
	}
	return stderr.String()
}

// command returns a command line without quotes as a command in the user's folder.
func (u *user) command(line string) *exec.Cmd {
	words := strings.Fields(line)
	c := exec.Command(words[0], words[1:]...)
	c.Dir = u.dir
	return c
}

// run runs a command line, which must succeed.
func (u *user) run(line string) {
	u.t.Helper()
	c := u.command(line)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		u.t.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
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
