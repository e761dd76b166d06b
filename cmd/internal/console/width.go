package console

import (
	"io"
	"os"
	"strconv"
)

// DefaultWidth is the width of pages, such as a help text, where Width knows none.
const DefaultWidth = 80

// Width returns the number of columns that text written to w has: the environment variable COLUMNS, or else the width of
// the terminal that w is. It returns 0 if w is not a terminal: such text is for programs, and is not wrapped.
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return size(w)
}

// PageWidth returns Width(w), or DefaultWidth if that is 0.
func PageWidth(w io.Writer) int {
	if n := Width(w); n > 0 {
		return n
	}
	return DefaultWidth
}

// size returns the width of the terminal that w is, or 0.
func size(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	return columns(f)
}
