package build

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Patterns returns the patterns with each Go file replaced by its folder, as shells complete names of files: a kernel is compiled
// with its whole package. The go command would take such a file for a package of its own, without the launchers that other
// files of the folder declare.
func Patterns(list []string) []string {
	var patterns []string
	for _, p := range list {
		if isGoFile(p) {
			p = folder(p)
		}
		if !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// SamePackage reports whether both names are those of Go files of one folder.
func SamePackage(a, b string) bool {
	return isGoFile(a) && isGoFile(b) && folder(a) == folder(b)
}

// isGoFile reports whether name is that of a Go file which exists.
func isGoFile(name string) bool {
	info, err := os.Stat(name)
	return strings.HasSuffix(name, ".go") && err == nil && info.Mode()&fs.ModeType == 0
}

// folder returns the folder of a file as a pattern of the go command.
func folder(file string) string {
	dir := filepath.Dir(file)
	if filepath.IsAbs(dir) || dir == "." || dir == ".." || strings.HasPrefix(dir, ".."+string(filepath.Separator)) {
		return dir
	}
	return "." + string(filepath.Separator) + dir
}
