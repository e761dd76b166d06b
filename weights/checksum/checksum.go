package checksum

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Errors of Verify and Known.
var (
	// ErrDiffers is the error of a file whose SHA-256 is not the expected one.
	ErrDiffers = errors.New("checksum: the file differs")
	// ErrUnknown is the error of a file for which Known finds no SHA-256.
	ErrUnknown = errors.New("checksum: no SHA-256 is known")
)

// Sum returns the SHA-256 of a file as 64 hexadecimal digits. Unless progress is nil, Sum calls it repeatedly with the number of bytes read
// so far. If progress returns an error, Sum returns this error.
func Sum(s *weights.Source, progress func(done int64) error) (string, error) {
	h, part := sha256.New(), make([]byte, 1<<20)
	for at := int64(0); at < s.Size(); {
		n := min(int64(len(part)), s.Size()-at)
		if _, err := s.ReadAt(part[:n], at); err != nil {
			return "", err
		}
		h.Write(part[:n])
		if at += n; progress == nil {
			continue
		}
		if err := progress(at); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Verify compares the SHA-256 of a file with the one that Known finds. The errors match ErrDiffers and ErrUnknown. See Sum for progress.
func Verify(s *weights.Source, progress func(done int64) error) error {
	want, err := Known(s.Name())
	if err != nil {
		return err
	}
	got, err := Sum(s, progress)
	if err == nil && got != want.Sum {
		err = fmt.Errorf("%w: %s has the SHA-256 %s, not %s as in %s", ErrDiffers, s.Name(), got, want.Sum, want.From)
	}
	return err
}
