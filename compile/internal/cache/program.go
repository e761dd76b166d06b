package cache

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"sync"
)

// Program returns an identifier of the running program, for keys, or an error if the program cannot be read.
var Program = sync.OnceValues(func() ([sha256.Size]byte, error) {
	f, err := openProgram()
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	defer f.Close()
	return identity(f)
})

// buildIDBytes is the length of four parts of 20 characters with slashes in between.
const buildIDBytes = 4*20 + 3

// buildID returns what the go command writes near a program's beginning, four parts of 20 characters: the last is a hash of
// the program. It returns nil if a user has had something else put there.
func buildID(head []byte) []byte {
	for _, mark := range [...]string{"Go\x00\x00", "Go build ID: \""} { // in ELF, and elsewhere
		if _, rest, ok := bytes.Cut(head, []byte(mark)); ok && len(rest) >= buildIDBytes && isBuildID(rest[:buildIDBytes]) {
			return rest[:buildIDBytes]
		}
	}
	return nil
}

func isBuildID(id []byte) bool {
	for i, c := range id {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
		if slash := i%21 == 20; slash && c != '/' || !slash && !letter {
			return false
		}
	}
	return true
}

// identity returns a hash of a program's build ID, or of all that it is where it has none.
func identity(f io.Reader) (sum [sha256.Size]byte, err error) {
	head, err := io.ReadAll(io.LimitReader(f, 32<<10))
	if err != nil {
		return sum, err
	}
	if id := buildID(head); id != nil {
		return sha256.Sum256(id), nil
	}
	h := sha256.New()
	h.Write(head)
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// openProgram opens the running program. Linux has a name for it that stays its own when the
// file is replaced.
func openProgram() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}
