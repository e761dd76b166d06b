//go:build !windows

package weights

import (
	"errors"
	"os"
)

// syncFolder flushes the entries of a folder to the disk, so that a rename survives a power failure.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
