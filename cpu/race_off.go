//go:build !race

package cpu

// raceDetector is whether the program is built with -race.
const raceDetector = false

// maxCooperative bounds the threads of a cooperative launch, each of which takes some kilobytes.
const maxCooperative = 1 << 17

// withoutRaceSync calls f.
func withoutRaceSync(f func()) { f() }
