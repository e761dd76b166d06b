package public_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// TestMain lets garbage grow to tens of megabytes: each launch in the interpreter allocates much and keeps little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(ondemand.Main(m))
}
