//go:build race

package cpu

import "runtime"

// raceDetector is whether the program is built with -race.
const raceDetector = true

// maxCooperative bounds the threads of a cooperative launch: the race detector ends a program that
// has more than 8128 goroutines.
const maxCooperative = 7680

// withoutRaceSync calls f such that the race detector derives no order of goroutines from it: otherwise
// the bookkeeping of a block's threads would hide missing barriers.
func withoutRaceSync(f func()) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	f()
}
