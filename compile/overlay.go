package compile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
)

// Overlay writes the generated files that differ from the files on disk into dir. It returns the name of a file in dir
// for the go command's -overlay flag, so that a program can be built with the new files while the source tree remains
// unchanged. It returns "" if no file differs.
func (r *Result) Overlay(dir string) (string, error) {
	replace := map[string]string{}
	for i, f := range r.differing(SourceTree) {
		if f.Contents == nil {
			replace[f.Name] = ""
			continue
		}
		if f = withoutAssembly(f); f.Contents == nil {
			continue
		}
		copied := filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(f.Name)))
		if err := os.WriteFile(copied, f.Contents, 0o600); err != nil {
			return "", err
		}
		replace[f.Name] = copied
	}
	if len(replace) == 0 {
		return "", nil
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}

// withoutAssembly returns f as it can be in an overlay: in a folder that is not there the go command cannot run
// its assembler. A package of vector code then does nothing, and the twins do all.
func withoutAssembly(f File) File {
	folder := filepath.Dir(f.Name)
	if _, err := os.Stat(folder); err == nil || filepath.Base(folder) != load.Vectors {
		return f
	}
	if strings.Contains(filepath.Base(f.Name), "_amd64.") {
		return File{Name: f.Name}
	}
	return File{Name: f.Name, Contents: bytes.Replace(f.Contents, []byte(launcher.NotAMD64), nil, 1)}
}
