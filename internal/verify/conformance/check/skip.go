package check

import (
	"errors"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
)

// errSkip marks an error that is the reason for skipping a case.
var errSkip = errors.New("skipped")

// Skip records why the device cannot run the case, which then returns.
func (r *Run) Skip(why string) { r.Wrong("%s: %w", why, errSkip) }

// Skipped returns the reason why a case with these errors was skipped, or nil if it was run. A case is also skipped if one of
// its kernels has no code for the device.
func Skipped(wrong map[string]error) error {
	for _, err := range wrong {
		if errors.Is(err, errSkip) || errors.Is(err, device.ErrNoVariant) {
			return err
		}
	}
	return nil
}

// Reason returns why a case was skipped, in a clause, for an error that Skipped has returned.
func Reason(skipped error) string {
	text := strings.TrimSuffix(skipped.Error(), ": "+errSkip.Error())
	if _, why, ok := strings.Cut(text, device.ErrNoVariant.Error()+": "); ok {
		return why
	}
	return text
}
