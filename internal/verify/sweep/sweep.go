package sweep

import "os"

// variable is set in the environment of tests that run all cases.
const variable = "GOPHERWARP_SWEEP"

// Whole reports whether tests run all cases.
func Whole() bool { return os.Getenv(variable) != "" }

// Every reports whether a test runs case i: one of n, or all.
func Every(n, i int) bool { return Whole() || i%n == 0 }
