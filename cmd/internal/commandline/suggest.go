package commandline

import "fmt"

// suggestion returns words about the flag that name is most similar to, if it is similar enough to be a slip.
func suggestion(name string, flags []*Flag) string {
	best, found := 2, ""
	for _, f := range flags {
		if d := distance(name, f.Name); d <= best && d < len(f.Name) {
			best, found = d, f.Name
		}
	}
	if found == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", "--"+found)
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
