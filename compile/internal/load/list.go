package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Project is the import path of this project's module.
const Project = "github.com/gopherwarp/gopherwarp"

// Generated is the base name of the file that holds a package's launchers.
const Generated = "zkernels.go"

// Twins is the base name of the file that holds the Go twins of a package's kernels.
const Twins = "zkernels_cpu.go"

// PTX is the base name of the file that holds the PTX of a package's kernels.
const PTX = "zkernels_ptx.go"

// Vectors is the name of the package, in a folder of that name below that of the kernels, which
// contains their vector code. A package that uses cgo cannot contain Go assembly.
const Vectors = "zvector"

// IsGenerated reports whether a build generates files with this name.
func IsGenerated(name string) bool {
	base := filepath.Base(name)
	return base == Generated || base == Twins || base == PTX
}

// generatedImports lists what generated files import, whether or not the user's files do.
var generatedImports = [...]string{Project + "/device", Project + "/device/driver", Project + "/dtype", Project + "/gpu", "unsafe"}

// Generates reports whether files that a build generates import the package with a path. Its declarations are known to
// the compiler or not part of kernels.
func Generates(path string) bool { return slices.Contains(generatedImports[:], path) }

// Graph is a set of packages and what they import.
type Graph struct {
	Roots []*Package // the packages that the patterns name
	All   []*Package // Roots and all that they import, dependencies first
	paths map[string]*Package

	contents contents
}

// List returns the packages that the patterns name in dir, using the go command. Errors in a
// package are in its Error field.
func List(ctx context.Context, dir string, patterns ...string) (*Graph, error) {
	g, err := list(ctx, dir, patterns, "")
	if err != nil {
		return nil, err
	}
	hidden := g.suspects()
	if len(hidden) == 0 {
		return g, nil
	}
	overlay, err := hide(hidden)
	if err != nil {
		return nil, err
	}
	defer os.Remove(overlay)
	return list(ctx, dir, patterns, overlay)
}

// list runs go list, with a file that describes an overlay unless its name is empty.
func list(ctx context.Context, dir string, patterns []string, overlay string) (*Graph, error) {
	args := []string{"list", "-e", "-deps",
		"-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Imports,ImportMap,Module,Standard,Match,Error"}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	args = append(args, "--")
	command := exec.CommandContext(ctx, "go", slices.Concat(args, patterns, generatedImports[:])...)
	command.Dir = dir
	out, err := command.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("compile: go list: %s", strings.TrimSpace(string(e.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("compile: go list: %w", err)
	}
	return decode(out, patterns)
}

func decode(out []byte, patterns []string) (*Graph, error) {
	g := &Graph{paths: map[string]*Package{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &Package{}
		if err := decoder.Decode(p); err == io.EOF {
			return g, nil
		} else if err != nil {
			return nil, fmt.Errorf("compile: go list: %w", err)
		}
		p.absolute()
		g.All = append(g.All, p)
		g.paths[p.ImportPath] = p
		p.Match = slices.DeleteFunc(p.Match, func(m string) bool {
			return slices.Contains(generatedImports[:], m) && !slices.Contains(patterns, m)
		})
		if len(p.Match) > 0 {
			g.Roots = append(g.Roots, p)
		}
	}
}

// suspects returns the generated files of the packages that the go command has trouble
// with: they may be the reason.
func (g *Graph) suspects() []string {
	var files []string
	for _, p := range g.All {
		for _, base := range [...]string{Generated, Twins} {
			file := filepath.Join(p.Dir, base)
			if p.Error != nil && p.InMain() && exists(file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// hide writes a description of an overlay without the files, and returns its name.
func hide(files []string) (string, error) {
	replace := map[string]string{}
	for _, file := range files {
		replace[file] = ""
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "gopherwarp-overlay-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Close())
}

// NameOf returns the name of the package with the path: what its package clause says or,
// where the package is unknown, the path's last element.
func (g *Graph) NameOf(importPath string) string {
	if p := g.paths[importPath]; p != nil && p.Name != "" {
		return p.Name
	}
	return path.Base(importPath)
}

// Package returns the package with the path, or nil.
func (g *Graph) Package(importPath string) *Package { return g.paths[importPath] }

// imported returns the package that p imports as importPath. A generated file imports what
// the files on disk may not: such packages are found as well.
func (g *Graph) imported(p *Package, importPath string) *Package {
	return g.paths[p.Resolve(importPath)]
}
