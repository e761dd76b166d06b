//go:build race

package cpu

import "runtime"

// raceDetector is whether the program is built with -race.
const raceDetector = true

// maxCooperative bounds the threads of a cooperative launch: the race detector ends a program that
// has more than 8128 goroutines.
const maxCooperative = 7680

// quietly calls f such that the race detector takes no order of goroutines from it: without
// that, what keeps count of the threads of a block would hide the barriers that it lacks.
func quietly(f func()) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	f()
}
