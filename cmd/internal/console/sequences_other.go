//go:build !windows

package console

import "os"

// EnableSequences does nothing: terminals interpret escape sequences.
func EnableSequences(*os.File) {}
