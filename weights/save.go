package weights

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// saveBuffer is the size of the buffer of Save in bytes.
const saveBuffer = 1 << 20

// Save writes a file atomically: it calls write with a temporary file in the same folder, and then renames the temporary file. If write fails, or the
// process ends early, an existing file with the name does not change.
func Save(name string, write func(w io.Writer) error) error {
	if i, err := os.Stat(name); err == nil && i.IsDir() {
		return fmt.Errorf("weights: save %s: a folder has this name", name)
	}
	temporary, err := createBeside(name)
	if err != nil {
		return fmt.Errorf("weights: save %s: %w", name, err)
	}
	b := bufio.NewWriterSize(temporary, saveBuffer)
	err = write(b)
	if err == nil {
		err = errors.Join(b.Flush(), temporary.Sync())
	}
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("weights: save %s: %w", name, err), os.Remove(temporary.Name()))
	}
	return syncFolder(filepath.Dir(name))
}

// Rename renames a file or a folder and flushes the new name, but not the contents, to the disk.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// createBeside creates a file with a new name in the folder of name. Unlike os.CreateTemp, it leaves the permissions to the umask.
func createBeside(name string) (*os.File, error) {
	for {
		beside := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%016x", filepath.Base(name), rand.Uint64()))
		f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}
