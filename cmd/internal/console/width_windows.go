package console

import (
	"os"
	"syscall"
	"unsafe"
)

// consoleInfo is CONSOLE_SCREEN_BUFFER_INFO of the Windows console API.
type consoleInfo struct {
	size, cursor             [2]int16
	attributes               uint16
	left, top, right, bottom int16
	maximum                  [2]int16
}

// columns returns the width of the console that f is, or 0.
func columns(f *os.File) int {
	var info consoleInfo
	ok, _, _ := syscall.NewLazyDLL("kernel32.dll").NewProc("GetConsoleScreenBufferInfo").
		Call(f.Fd(), uintptr(unsafe.Pointer(&info)))
	if ok == 0 {
		return 0
	}
	return int(info.right-info.left) + 1
}
