package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
	"github.com/gopherwarp/gopherwarp/compile"
)

// linkage describes how a program is built with the code of its kernels.
type linkage struct {
	pkg      string // a package main
	dir      string // that pkg is relative to; "" for the working directory
	contract compile.Contract
	checks   compile.Checks
}

// link builds the program and returns its file name, in a folder that the caller removes.
func (l linkage) link(ctx context.Context, t terminal) (program string, err error) {
	result, err := build.Compile(ctx, t.err, compile.Options{
		Dir:          l.dir,
		Patterns:     []string{l.pkg},
		Dependencies: true,
		Contract:     l.contract,
		Checks:       l.checks,
		Cache:        build.CacheFolder("build"),
	})
	if err == nil {
		err = build.Refused(result)
	}
	if err == nil && len(result.Libraries) > 0 {
		err = fmt.Errorf("package %s is not a main package", result.Libraries[0])
	}
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(l.dir)
	if err != nil {
		return "", err
	}
	key := dir + "\x00" + l.pkg
	kept := programs{dir: build.CacheFolder("run"), keep: maxPrograms}
	if program, err = kept.checkOut(key); err != nil {
		return "", err
	}
	if err := l.build(ctx, t, result, program); err != nil {
		os.RemoveAll(filepath.Dir(program))
		return "", err
	}
	kept.checkIn(key, program) // if it fails, the next run links the program
	return program, nil
}

// build builds the program with a name.
func (l linkage) build(ctx context.Context, t terminal, result *compile.Result, program string) error {
	args := append([]string{"build", "-o", program}, l.flags(ctx)...)
	overlay, err := result.Overlay(filepath.Dir(program))
	if err != nil {
		return err
	}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	command := exec.CommandContext(ctx, "go", append(args, "--", l.pkg)...)
	command.Dir, command.Stdout, command.Stderr = l.dir, t.out, t.err
	return passed(command.Run())
}

// flags returns the flags that leave out what debuggers read, as go run does: that saves a third of the time to build a
// program. If the user has flags for the linker, those count.
func (l linkage) flags(ctx context.Context) []string {
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil || strings.Contains(string(flags), "-ldflags") {
		return nil
	}
	return []string{"-ldflags=-s -w"}
}
