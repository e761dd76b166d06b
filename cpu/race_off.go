//go:build !race

package cpu

// raceDetector is whether the program is built with -race.
const raceDetector = false

// quietly calls f.
func quietly(f func()) { f() }
