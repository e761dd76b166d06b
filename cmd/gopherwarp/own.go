package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
)

// own runs a program of this project whose kernels' code is generated on demand: it is compiled on the user's machine,
// by the compiler that this process contains.
type own struct {
	command string   // the subcommand that runs it
	pkg     string   // its package, below the module's root
	device  string   // see runCommand.Device
	output  string   // see runCommand.Output
	args    []string // of the program
}

// module is the path of this project's module.
const module = "github.com/gopherwarp/gopherwarp"

func (o own) run(ctx context.Context, t terminal) error {
	dir, err := source(ctx)
	if err != nil {
		return fmt.Errorf("%s compiles kernels from the source of module %s, which was not found (%w); run it in a module that requires %[2]s, or in a checkout of it",
			o.command, module, err)
	}
	program, err := linkage{pkg: "./" + o.pkg, dir: dir}.link(ctx, t)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(program))
	if o.output != "" {
		return copyProgram(o.output, program)
	}
	run := runCommand{Device: o.device, Args: append([]string{"--"}, o.args...)}
	return run.start(t, program)
}

// source returns a folder with the source of this project's module, as the working directory's module requires it. The go
// command lays no other files over those in the module cache, so that source in there is copied.
func source(ctx context.Context) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}\n{{.Version}}", module)
	out, err := list.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", errors.New(strings.TrimSpace(string(e.Stderr)))
	}
	if err != nil {
		return "", err
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	modules, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	switch {
	case err != nil:
		return "", err
	case dir == "":
		return "", errors.New("the module is vendored or not downloaded")
	case !strings.HasPrefix(dir, strings.TrimSpace(string(modules))+string(filepath.Separator)):
		return dir, nil
	}
	return copied(dir, version)
}

// copied copies the source of a version to the user's cache, unless it is there, and returns its folder.
func copied(dir, version string) (string, error) {
	place := filepath.Join(build.CacheFolder("source"), version)
	if _, err := os.Stat(place); err == nil {
		return place, nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(place), ".copy-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := os.CopyFS(filepath.Join(fresh, "module"), os.DirFS(dir)); err != nil {
		return "", err
	}
	err = os.Rename(filepath.Join(fresh, "module"), place)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		err = nil
	}
	return place, err
}
