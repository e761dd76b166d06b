package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// asCommand, set in the environment, makes the test binary the command itself.
const asCommand = "GOPHERWARP_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestScripts runs the scripts in testdata/script, each in a module of a user's own made of the
// archive's files. A script has a command a line:
//
//	[!|code N] gopherwarp|go ARGS   run it; it succeeds, or fails, or exits with N
//	stdout|stderr [!] REGEXP        what the last command wrote there matches, or does not
//	exists [!] FILE                 the file is there, or is not
//	replace FILE OLD NEW            in the file, which has OLD
//	append FILE TEXT
//	rm FILE
//	env NAME=VALUE
//	sweep                           the rest of the script takes long: it runs in sweeps
//
// Words are quoted by single quotes. $WORK is the folder that the script runs in.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			newScript(t, a).run(string(a.Comment))
		})
	}
}

// script is the state of a running script.
type script struct {
	t              *testing.T
	dir            string
	env            []string
	stdout, stderr string
	code           int // exit code of the last command
}

func newScript(t *testing.T, a *txtar.Archive) *script {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, dir: t.TempDir()}
	s.env = append(os.Environ(), asCommand+"=1", "COLUMNS=", "GOPROXY=off", "GOFLAGS=", "GOWORK=off",
		"GOGC=400") // commands end before they fill the memory
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(mod), "\nrequire (")
	requires, _, _ = strings.Cut(requires, "\n)")
	s.write("go.mod", "module example.com/user\n\ngo 1.26.0\n\n"+
		"require (\n\tgithub.com/gopherwarp/gopherwarp v0.0.0"+requires+"\n)\n\n"+
		"replace github.com/gopherwarp/gopherwarp => "+filepath.ToSlash(root)+"\n")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("go.sum", string(sums))
	for _, f := range a.Files {
		s.write(f.Name, string(f.Data))
	}
	return s
}

func (s *script) run(text string) {
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line == "sweep" {
			if !sweep.Whole() {
				return
			}
			continue
		}
		if err := s.line(words(strings.ReplaceAll(line, "$WORK", s.dir))); err != nil {
			s.t.Fatalf("line %d: %s: %v\nstdout:\n%s\nstderr:\n%s", i+1, line, err, s.stdout, s.stderr)
		}
	}
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

func words(line string) []string {
	found := word.FindAllString(line, -1)
	for i, w := range found {
		found[i] = strings.Trim(w, "'")
	}
	return found
}

// line runs one line.
func (s *script) line(w []string) error {
	if len(w) < 2 {
		return errors.New("unknown command")
	}
	not := w[1] == "!"
	last := w[len(w)-1]
	switch w[0] {
	case "stdout":
		return match(s.stdout, last, not)
	case "stderr":
		return match(s.stderr, last, not)
	case "holds":
		text, err := os.ReadFile(s.path(w[1]))
		return errors.Join(err, match(string(text), last, false))
	case "exists":
		if _, err := os.Stat(s.path(last)); (err != nil) != not {
			return fmt.Errorf("stat: %v", err)
		}
		return nil
	case "env":
		s.env = append(s.env, last)
		return nil
	case "rm":
		return os.Remove(s.path(last))
	case "replace":
		return s.edit(w[1], func(text string) string { return strings.ReplaceAll(text, w[2], w[3]) })
	case "append":
		return s.edit(w[1], func(text string) string { return text + last + "\n" })
	default:
		return s.command(w)
	}
}

func match(text, pattern string, not bool) error {
	if regexp.MustCompile("(?m)"+pattern).MatchString(text) == not {
		return errors.New("does not hold")
	}
	return nil
}

// command runs gopherwarp or go, perhaps with an exit code that is expected.
func (s *script) command(w []string) error {
	want := 0
	switch w[0] {
	case "!":
		want, w = -1, w[1:]
	case "code":
		n, err := strconv.Atoi(w[1])
		if err != nil {
			return err
		}
		want, w = n, w[2:]
	}
	if err := s.execute(w); err != nil {
		return err
	}
	if s.code != want && (want >= 0 || s.code == 0) {
		return fmt.Errorf("exit code %d", s.code)
	}
	return nil
}

func (s *script) execute(w []string) error {
	name := w[0]
	if name == "gopherwarp" {
		var err error
		if name, err = os.Executable(); err != nil {
			return err
		}
	} else if name != "go" {
		return errors.New("unknown command")
	}
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(s.t.Context(), name, w[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = s.dir, s.env, &stdout, &stderr
	err := c.Run()
	s.stdout, s.stderr, s.code = stdout.String(), stderr.String(), c.ProcessState.ExitCode()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil
	}
	return err
}

func (s *script) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *script) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) edit(name string, f func(string) string) error {
	old, err := os.ReadFile(s.path(name))
	if err != nil {
		return err
	}
	text := f(string(old))
	if text == string(old) {
		return errors.New("nothing to replace")
	}
	return os.WriteFile(s.path(name), []byte(text), 0o666)
}

// TestHandedOn describes which arguments reach the program that a command starts.
func TestHandedOn(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.go", "b.go", "sub/c.go"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ args, want string }{
		{"run -device cpu ./x -in a", "-in a"},
		{"run -device=cpu ./x -- -in a", "-in a"},
		{"run ./x y -v -- z", "y -v -- z"},
		{"run ./x -device=cpu", "-device=cpu"},
		{"run a.go b.go c", "c"},
		{"run a.go b.go -- b.go", "b.go"},
		{"run a.go sub/c.go", "sub/c.go"},
		{"run a.go -- b.go", "b.go"},
		{"run -- ./x -v", "-v"},
		{"run -- ./x -- -v", "-v"},
	}
	for _, test := range tests {
		var c commands
		_, err := newParser(&c).Parse(strings.Fields(test.args))
		if got := strings.Join(handedOn(c.Run.Package, c.Run.Args), " "); err != nil || got != test.want {
			t.Errorf("%q: got %q, %v, want %q", test.args, got, err, test.want)
		}
	}
}

// TestHelp demands an example in the help of every command.
func TestHelp(t *testing.T) {
	for _, command := range newParser(&commands{}).Children {
		var out bytes.Buffer
		if code := run(context.Background(), []string{command.Name, "-help"}, terminal{&out, &out}); code != exitOK {
			t.Errorf("%s -help: exit code %d", command.Name, code)
		}
		if !strings.Contains(out.String(), "gopherwarp "+command.Name+" ") && !strings.Contains(out.String(), "Example:") {
			t.Errorf("%s -help shows no example:\n%s", command.Name, out.String())
		}
	}
}

// TestDefaults demands that the help of a flag names its default, if a placeholder hides the default in the list of flags.
func TestDefaults(t *testing.T) {
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		for f := range of.Fields() {
			if f.Type.Kind() == reflect.Struct {
				walk(f.Type)
			}
			tag := f.Tag
			if tag.Get("default") != "" && tag.Get("placeholder") != "" && !strings.Contains(tag.Get("help"), "Default: ") {
				t.Errorf("%s.%s: the help does not say that the default is %s", of.Name(), f.Name, tag.Get("default"))
			}
		}
	}
	walk(reflect.TypeFor[commands]())
}

// TestDoctor demands words for whatever state the machine is in, and the code for it.
func TestDoctor(t *testing.T) {
	var out bytes.Buffer
	code := run(context.Background(), []string{"doctor"}, terminal{&out, &out})
	list, err := vulkan.List()
	usable := cuda.Diagnose().Usable() || vulkanReport{list, err, ""}.usable()
	if want := map[bool]int{true: exitOK, false: exitNoGPU}[usable]; code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if said := strings.Contains(out.String(), "Programs run their kernels on the CPU"); said == usable {
		t.Errorf("a GPU can be used: %v; printed:\n%s", usable, out.String())
	}
}
