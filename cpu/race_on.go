//go:build race

package cpu

// raceDetector is whether the program is built with -race.
const raceDetector = true
