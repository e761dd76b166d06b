package top

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableSequences lets a console interpret escape sequences. If that fails, the console is too old, or interprets them anyway.
func enableSequences(f *os.File) {
	var mode uint32
	if h := windows.Handle(f.Fd()); windows.GetConsoleMode(h, &mode) == nil {
		_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
}
