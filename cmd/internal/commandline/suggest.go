package commandline

import (
	"fmt"
	"strings"
)

// suggestion returns words about the most similar one of names, if it is similar enough for word to be a slip.
func suggestion(word string, names []string) string {
	best, found := 2, ""
	for _, name := range names {
		if d := distance(word, name); d <= best && 2*d <= len(strings.TrimLeft(name, "-")) {
			best, found = d, name
		}
	}
	if found == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", found)
}

// distance returns the Levenshtein distance of two words: how many letters must be inserted, removed or replaced to
// make one the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // the distances of a prefix of a to all prefixes of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
