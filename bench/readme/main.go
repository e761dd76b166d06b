// Readme rewrites the tables of speeds in README.md and docs/prim.md from a report of gopherwarp bench in
// bench/results:
//
//	go run ./bench/readme bench/results/h200-2026-11-21-1a2b3c4.json
//
// A test checks that both documents agree with the report that they name.
package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: readme REPORT, from the repository's root")
		os.Exit(2)
	}
	var errs []error
	for _, d := range documents() {
		errs = append(errs, d.rewrite(".", os.Args[1]))
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

// document is a file with a section that is generated from a report.
type document struct {
	name  string // relative to the repository's root
	table func(*report.Report) string
}

func documents() []document {
	return []document{{"README.md", speeds}, {"docs/prim.md", primitives}}
}

// rewrite regenerates the document's section.
func (d document) rewrite(root, name string) error {
	file := filepath.Join(root, d.name)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	old, ok := section(string(text))
	if !ok {
		return fmt.Errorf("%s has no section between %s and %s", d.name, begin, end)
	}
	section, err := d.section(name)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), old, section, 1)), 0o644)
}

// The text around the section.
const (
	begin = "<!-- figures of "
	end   = "<!-- end of figures -->"
)

// section returns the section of a document's text, including begin and end.
func section(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, begin)
	inner, _, closed := strings.Cut(rest, end)
	return begin + inner + end, ok && closed
}

// section returns the section for a report.
func (d document) section(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := report.ReadJSON(f)
	if err != nil {
		return "", err
	}
	name = path.Join("bench/results", path.Base(name))
	link := strings.Repeat("../", strings.Count(d.name, "/")) + name
	return fmt.Sprintf("%s%s -->\nMeasured on one %s. [The report](%s) names the driver, the commit, and the versions of all programs compared.\n\n%s%s",
		begin, name, model(r.Device), link, d.table(r), end), nil
}

// model returns the name of a GPU without its details.
func model(device string) string {
	name, _, _ := strings.Cut(device, " (")
	return strings.TrimPrefix(name, "NVIDIA ")
}
