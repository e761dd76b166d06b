package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// suite runs the tests of packages until one fails.
func (t *tester) suite(ctx context.Context, env, packages []string) verdict {
	if len(packages) == 0 {
		return verdict{outcome: survived}
	}
	args := append([]string{"test", "-vet=off", "-failfast", "-timeout=" + t.limit.String()}, packages...)
	v := verdict{outcome: survived}
	err := t.command(ctx, exec.Command("go", args...), env, func(line string) bool {
		v = v.line(line)
		return v.outcome == survived
	})
	switch {
	case v.outcome != survived || err == nil:
		return v
	case errors.Is(err, context.DeadlineExceeded):
		return verdict{bySuite, timeLimit}
	}
	return verdict{failed, fmt.Sprintf("go test %s: %v", strings.Join(packages, " "), err)}
}

// timeLimit is the detail of a verdict on a mutant that hangs.
const timeLimit = "time limit"

// line returns the verdict after one more line of the output of go test. The detail of a survivor is what
// the package that is being tested has reported so far.
func (v verdict) line(line string) verdict {
	name, isTest := strings.CutPrefix(line, "--- FAIL: ")
	pkg, isPackage := strings.CutPrefix(line, "FAIL\t")
	switch {
	case v.outcome != survived:
	case isTest && v.detail == "":
		v.detail, _, _ = strings.Cut(name, " ")
	case strings.HasPrefix(line, "panic: test timed out"):
		v.detail = timeLimit
	case strings.HasPrefix(line, "panic: ") && v.detail == "":
		v.detail = "panic"
	case isPackage && strings.HasSuffix(pkg, "[build failed]"):
		return verdict{failed, line}
	case isPackage:
		fields := strings.Fields(pkg)
		return verdict{bySuite, strings.TrimSpace(strings.TrimPrefix(fields[0], modulePath) + " " + v.detail)}
	}
	return v
}

// modulePath precedes the names of packages in the output of go test.
const modulePath = "github.com/gopherwarp/gopherwarp/"

// random compares random kernels, as many of each shape.
func (t *tester) random(ctx context.Context, env []string, dir string) verdict {
	if t.kernels == 0 {
		return verdict{outcome: survived}
	}
	program := filepath.Join(dir, "long.exe")
	build := exec.Command("go", "build", "-o", program, "./internal/verify/progen/long")
	if err := t.command(ctx, build, env, func(string) bool { return true }); err != nil {
		return verdict{failed, err.Error()}
	}
	shapes := progen.Shapes()
	for _, shape := range shapes {
		results := filepath.Join(dir, "results"+shape)
		long := exec.Command(program, "-stop", "-root", t.root, "-report", results, "-shape", shape, fmt.Sprintf("-contract=%t", shape == "fused"),
			"-n", fmt.Sprint(t.kernels/len(shapes)), "-seed", fmt.Sprint(t.seed), "-j", fmt.Sprint(max(1, processors()/t.jobs)))
		err := t.command(ctx, long, env, func(string) bool { return true })
		if v := judge(results, err); v.outcome != survived {
			return v
		}
	}
	return verdict{outcome: survived}
}

// judge returns the verdict of a run of random kernels that has written a report and ended with err.
func judge(report string, err error) verdict {
	text, _ := os.ReadFile(report) // a file that is missing has no differences
	for line := range strings.Lines(string(text)) {
		if how, ok := strings.CutPrefix(line, "DIFFERS "); ok {
			how, _, _ = strings.Cut(fmt.Sprintf("%.150s", how), ": go test ")
			return verdict{byKernels, how}
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return verdict{byKernels, timeLimit}
	case err != nil:
		return verdict{failed, err.Error()}
	}
	return verdict{outcome: survived}
}

// command runs a command in the repository and passes each line of its output to line, which returns false
// to stop it. It also stops after twice the limit, which is the time for commands that enforce the limit
// themselves; the error is then context.DeadlineExceeded. It ends all processes that the command has started.
func (t *tester) command(ctx context.Context, cmd *exec.Cmd, env []string, line func(string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*t.limit)
	defer cancel()
	output, input := io.Pipe()
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = t.root, env, input, input
	cmd.WaitDelay = 10 * time.Second
	isolate(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { killAll(cmd) })
	defer stop()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(output)
		for going := true; ; {
			text, err := lines.ReadString('\n')
			if going && !line(strings.TrimSuffix(text, "\n")) {
				going = false
				cancel()
			}
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Wait()
	killAll(cmd)
	input.Close()
	<-read
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
