package driver_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// TestNegativeIndex compares the messages with those of Go's runtime.
func TestNegativeIndex(t *testing.T) {
	tests := []struct {
		format string
		signed dtype.Type
		want   string
	}{
		{"index out of range [%d] with length %d", dtype.Int64, "index out of range [-1]"},
		{"slice bounds out of range [:%d] with capacity %d", dtype.Int64, "slice bounds out of range [:-1]"},
		{"slice bounds out of range [:%d] with length %d", dtype.Int64, "slice bounds out of range [:-1]"},
		{"slice bounds out of range [%d:%d]", dtype.Int64, "slice bounds out of range [-1:]"},
		{"slice bounds out of range [::%d] with capacity %d", dtype.Int64, "slice bounds out of range [::-1]"},
		{"slice bounds out of range [:%d:%d]", dtype.Int64, "slice bounds out of range [:-1:]"},
		{"slice bounds out of range [%d:%d:]", dtype.Int64, "slice bounds out of range [-1::]"},
		{"index out of range [%d] with length %d", dtype.Uint64, "index out of range [18446744073709551615] with length 5"},
		{"n is %d, not %d", dtype.Int64, "n is -1, not 5"},
	}
	for _, test := range tests {
		site := driver.Site{Format: test.format, Args: []dtype.Type{test.signed, dtype.Int64}}
		found := driver.DecodeFault(padded(record(1, 1, 0, ^uint64(0), 5)), func(uint32) *driver.Kernel {
			return &driver.Kernel{Sites: []driver.Site{site}}
		})
		if found.Message != test.want {
			t.Errorf("%s: got %q, want %q", test.format, found.Message, test.want)
		}
	}
}
