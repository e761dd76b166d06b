//go:build !race

package cpu

// raceDetector reports whether the program was built with -race.
const raceDetector = false

// maxCooperative bounds the threads of a cooperative launch, each of which takes some kilobytes.
const maxCooperative = 1 << 17

// withoutRaceSync calls f.
func withoutRaceSync(f func()) { f() }
