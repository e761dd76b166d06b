package ondemand

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// built is set in the environment of a test that has its kernels' code.
const built = "GOPHERWARP_TEST_BUILT"

// garbage is how much the compilers, ours and Go's, may make before it is collected, in percent of what is in use: they soon end.
const garbage = 400

// InSweeps is Main in sweeps. In others, it runs the tests without the code of their kernels, which then run natively only.
func InSweeps(m *testing.M) int {
	if !sweep.Whole() {
		return m.Run()
	}
	return Main(m)
}

// NeedsCode skips a test whose device cannot run kernels natively, unless they have their code.
func NeedsCode(t testing.TB) {
	t.Helper()
	sweep.Whole() // which reads the variable in a test, so that go test's cache knows it
	if os.Getenv(built) == "" {
		t.Skip("needs compiled kernels, which this package has in sweeps")
	}
}

// Main runs the tests of the package in the working directory with the code of its kernels, and returns their
// exit code. If the kernels do not compile, Main prints why and returns 1.
func Main(m *testing.M) int {
	if os.Getenv(built) != "" || listing() {
		return m.Run()
	}
	code, err := run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// listing reports whether the test was asked for the names of tests only.
func listing() bool {
	for _, arg := range os.Args[1:] {
		if strings.HasPrefix(arg, "-test.list") {
			return true
		}
	}
	return false
}

// run builds the test with its kernels' code, and runs it with the arguments of this process.
func run(ctx context.Context) (code int, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	result, err := compile.Build(ctx, compile.Options{Dependencies: true, OnDemand: true})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "gopherwarp-test-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	overlay, err := result.Overlay(dir)
	if err != nil {
		return 1, err
	}
	program := filepath.Join(dir, "test.exe")
	// As go test links: without what debuggers read, which takes a sixth of the time to compile the kernels' code. The outer go test has vetted
	// the sources.
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-gcflags=./...=-dwarf=false", "-o", program}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Env = append(os.Environ(), fmt.Sprint("GOGC=", garbage))
	if code, err := execute(build); code != 0 || err != nil {
		return code, err
	}
	// The test writes what it reads to the file that -test.testlogfile names, as this process would have done.
	test := exec.CommandContext(ctx, program, os.Args[1:]...)
	test.Env = append(os.Environ(), built+"=1")
	test.Stdin, test.Stdout = os.Stdin, os.Stdout
	return execute(test)
}

// execute runs a command and returns its exit code.
func execute(c *exec.Cmd) (code int, err error) {
	c.Stderr = os.Stderr
	err = c.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(1, e.ExitCode()), nil
	}
	return 0, err
}
