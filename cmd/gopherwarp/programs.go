package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// programs is a folder of linked programs. The go command does not link a program again that is where it writes it, if nothing
// has changed that it depends on: it compares the IDs of builds. Each package of a working directory has one place, and
// each run its own folder with a link to what is there, so that runs at the same time do not disturb each other.
type programs struct {
	dir  string // "" if nothing is kept
	keep int    // programs
}

// maxPrograms is how many programs are kept, of some megabytes each.
const maxPrograms = 24

// abandoned is the age from which the folder of a run counts as abandoned.
const abandoned = 24 * time.Hour

// Names in the folder: runFolder begins those of runs, suffix ends those of programs.
const (
	runFolder = "run-"
	suffix    = ".exe"
)

// place returns the file name of the program that a key names: a directory and a package.
func (p programs) place(key string) string {
	return filepath.Join(p.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(key)))+suffix)
}

// checkOut makes the folder of a run, with the kept program of the key, if there is one, under the returned name.
func (p programs) checkOut(key string) (program string, err error) {
	if p.dir != "" {
		err = os.MkdirAll(p.dir, 0o700)
	}
	if err != nil || p.dir == "" {
		p.dir = "" // a cache that cannot be written is no reason to fail
	}
	dir, err := os.MkdirTemp(p.dir, runFolder)
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "program"+suffix)
	if p.dir != "" {
		os.Link(p.place(key), program) // if it fails, the program is linked
	}
	return program, nil
}

// checkIn keeps a program that checkOut named and go build wrote. If it fails, the next run links the program.
func (p programs) checkIn(key, program string) error {
	if p.dir == "" || filepath.Dir(filepath.Dir(program)) != p.dir {
		return nil
	}
	place := p.place(key)
	made, err := os.Stat(program)
	if err != nil {
		return err
	}
	if kept, err := os.Stat(place); err == nil && os.SameFile(kept, made) {
		return nil
	}
	fresh := program + ".new"
	if err := os.Link(program, fresh); err != nil {
		return err
	}
	return errors.Join(os.Rename(fresh, place), p.trim())
}

// trim removes the least recently run programs, and the folders of runs that ended early.
func (p programs) trim() error {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	var kept []fs.FileInfo
	var failed error
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // another process removed it
		case e.IsDir() && strings.HasPrefix(e.Name(), runFolder) && time.Since(info.ModTime()) > abandoned:
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(p.dir, e.Name())))
		case e.Type().IsRegular() && strings.HasSuffix(e.Name(), suffix):
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range kept[min(p.keep, len(kept)):] {
		failed = errors.Join(failed, os.Remove(filepath.Join(p.dir, old.Name())))
	}
	return failed
}
