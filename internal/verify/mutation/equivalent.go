package mutation

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalents string

// Equivalent returns the reasons why mutants are equivalent, by the mutations' keys.
func Equivalent() (map[string]string, error) { return parseEquivalents(equivalents) }

// parseEquivalents reads keys, each followed by its reason in indented lines. Lines that begin with # are
// comments.
func parseEquivalents(text string) (map[string]string, error) {
	reasons := map[string]string{}
	key := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			if _, twice := reasons[line]; twice {
				return nil, fmt.Errorf("mutation: line %d repeats a key: %s", i+1, line)
			}
			key, reasons[line] = line, ""
		case key == "":
			return nil, fmt.Errorf("mutation: line %d is a reason without a key", i+1)
		default:
			reasons[key] = strings.TrimSpace(reasons[key] + " " + line[1:])
		}
	}
	for key, reason := range reasons {
		if reason == "" {
			return nil, fmt.Errorf("mutation: no reason for %s", key)
		}
	}
	return reasons, nil
}
