//go:build race

package cpu

import "runtime"

// raceDetector reports whether the program was built with -race.
const raceDetector = true

// maxCooperative bounds the threads of a cooperative launch: the race detector ends a program that
// has more than 8128 goroutines.
const maxCooperative = 7680

// withoutRaceSync calls f so that the race detector ignores its synchronization. Otherwise the
// bookkeeping of a block's threads would hide missing barriers.
func withoutRaceSync(f func()) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	f()
}
