package console

import (
	"os"
	"syscall"
)

// virtualTerminal is ENABLE_VIRTUAL_TERMINAL_PROCESSING of the Windows console API.
const virtualTerminal = 4

// EnableSequences lets a console interpret escape sequences. If that fails, the console is too old, or interprets them anyway.
func EnableSequences(f *os.File) {
	var mode uint32
	if syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil {
		_, _, _ = syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode").Call(f.Fd(), uintptr(mode|virtualTerminal))
	}
}
