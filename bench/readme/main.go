// Readme writes the table of speeds in README.md anew, from a report of gopherwarp bench that is kept in bench/results:
//
//	go run ./bench/readme bench/results/h200-2026-11-21-1a2b3c4.json
//
// A test demands that the README says what the report says that it names.
package main

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: readme REPORT, from the repository's root")
		os.Exit(2)
	}
	if err := run("README.md", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

func run(readme, name string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	old, ok := section(string(text))
	if !ok {
		return fmt.Errorf("%s has no section between %s and %s", readme, begin, end)
	}
	section, err := figures(name)
	if err != nil {
		return err
	}
	return os.WriteFile(readme, []byte(strings.Replace(string(text), old, section, 1)), 0o644)
}

// What is around the section.
const (
	begin = "<!-- figures of "
	end   = "<!-- end of figures -->"
)

// section returns the section of a README, with what is around it.
func section(readme string) (string, bool) {
	_, rest, ok := strings.Cut(readme, begin)
	inner, _, closed := strings.Cut(rest, end)
	return begin + inner + end, ok && closed
}

// figures returns the section for a report.
func figures(name string) (string, error) {
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
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s -->\nOn one %s, from [a report](%s) that names driver, commit and peers:\n\n", begin, name, model(r.Device), name)
	b.WriteString("| | Gopherwarp | beside it |\n|---|---|---|\n")
	for _, l := range lines() {
		if row, ok := l.row(r); ok {
			b.WriteString(row)
		}
	}
	b.WriteString(end)
	return b.String(), nil
}

// model returns the name of a GPU without what is behind it.
func model(device string) string {
	name, _, _ := strings.Cut(device, " (")
	return strings.TrimPrefix(name, "NVIDIA ")
}
