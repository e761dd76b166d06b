//go:build !windows

package top

import "os"

// enableSequences does nothing: terminals interpret escape sequences.
func enableSequences(*os.File) {}
