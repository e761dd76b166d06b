//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package weights

import (
	"errors"
	"os"
)

// mapFile fails: this package does not map files on this system.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// unmapFile is never called.
func unmapFile([]byte) error { return nil }
