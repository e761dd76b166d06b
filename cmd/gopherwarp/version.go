package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Help is the text after the flags.
func (versionCommand) Help() string {
	return `Prints the version of the gopherwarp module, the Go version that built the program, and the platform. A program
built from a checkout prints the revision instead of a version.

Example:
  gopherwarp version`
}

// Run runs the command.
func (versionCommand) Run(_ context.Context, t terminal) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	fmt.Fprintf(t.out, "gopherwarp %s %s %s/%s\n", version(info), info.GoVersion, runtime.GOOS, runtime.GOARCH)
	return nil
}

// project is the path of this module.
const project = "github.com/gopherwarp/gopherwarp"

// version returns the module version of a program that is built from this module or, as a tool, in another one; and the
// revision of a checkout.
func version(info *debug.BuildInfo) string {
	module := info.Main
	for _, d := range info.Deps {
		if d.Path == project {
			module = *d
		}
	}
	if r := module.Replace; r != nil {
		return "(replaced by " + r.Path + ")"
	}
	if module.Path == project && module.Version != "" && module.Version != "(devel)" {
		return module.Version
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+dirty"
		}
	}
	if revision == "" || module.Path != project {
		return "(devel)"
	}
	return revision + modified
}
