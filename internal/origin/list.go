package origin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Decl is a declaration that code was generated from.
type Decl struct {
	File string // relative to the folder of the generated file, with slashes
	Name string // as Sums has it
	Sum  uint64
}

// Format returns a list of declarations as text, a line each.
func Format(list []Decl) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%x\t%s\t%s\n", d.Sum, d.File, d.Name)
	}
	return b.String()
}

// Parse reads the text that Format writes. It returns nil for other texts.
func Parse(text string) []Decl {
	var list []Decl
	for line := range strings.Lines(text) {
		sum, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		file, name, ok := strings.Cut(rest, "\t")
		n, err := strconv.ParseUint(sum, 16, 64)
		if !ok || err != nil {
			return nil
		}
		list = append(list, Decl{File: file, Name: name, Sum: n})
	}
	return list
}

// Reader returns the contents of a file.
type Reader func(name string) ([]byte, error)

// Changed returns the first of the declarations, in files relative to dir, that is not there any more or has another hash. It
// passes over files that are not there, or cannot be read.
func Changed(dir string, list []Decl, read Reader) (Decl, bool) {
	sums := map[string]map[string]uint64{}
	for _, d := range list {
		now, ok := sums[d.File]
		if !ok {
			if text, err := read(filepath.Join(dir, filepath.FromSlash(d.File))); err == nil {
				now = Sums(text)
			}
			sums[d.File] = now
		}
		if now != nil && now[d.Name] != d.Sum {
			return d, true
		}
	}
	return Decl{}, false
}

// Built returns a Reader of the files that are no newer than the running program, which was therefore built from them. A file that was
// edited later says nothing of the program.
func Built() Reader {
	built := sync.OnceValues(builtAt)
	return func(name string) ([]byte, error) {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		limit, err := built()
		if err != nil {
			return nil, err
		}
		if info.ModTime().After(limit) {
			return nil, &fs.PathError{Op: "read", Path: name, Err: errNewer}
		}
		return os.ReadFile(name)
	}
}

var errNewer = errors.New("the file is newer than the program")

// builtAt returns when the running program was written.
func builtAt() (time.Time, error) {
	name, err := os.Executable()
	if err != nil {
		return time.Time{}, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
