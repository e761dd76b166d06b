package cpu

import (
	"os"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// TestMain compiles the kernels before the tests, which then run in a second process.
func TestMain(m *testing.M) { os.Exit(ondemand.InSweeps(m)) }
