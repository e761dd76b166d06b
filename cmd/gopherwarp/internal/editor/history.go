package editor

import "slices"

// mostLines is the number of lines that a history keeps.
const mostLines = 1000

// history is the lines that the user has entered. It implements term.History.
type history []string

// Add adds a line, unless it is empty or the last one again.
func (h *history) Add(line string) {
	if n := len(*h); line == "" || n > 0 && (*h)[n-1] == line {
		return
	}
	if *h = append(*h, line); len(*h) > mostLines {
		*h = slices.Delete(*h, 0, 1)
	}
}

// Len returns the number of lines.
func (h *history) Len() int { return len(*h) }

// At returns a line. The last one is 0.
func (h *history) At(i int) string { return (*h)[len(*h)-1-i] }
