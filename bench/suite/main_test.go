package suite_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// TestMain lets garbage grow to some tens of megabytes: the tests make much, launch by launch, and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(ondemand.InSweeps(m))
}
