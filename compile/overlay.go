package compile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Overlay writes the stale files into dir and returns the name of a file there that the go command's
// -overlay flag takes, so that a program is built with them and the source tree stays
// as it is. It returns "" where nothing is stale.
func (r *Result) Overlay(dir string) (string, error) {
	replace := map[string]string{}
	for i, f := range r.Stale() {
		if f.Contents == nil {
			replace[f.Name] = ""
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
