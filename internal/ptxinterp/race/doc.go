// Package race decides whether two accesses to a memory word are ordered, for the PTX memory
// model (chapter 8 of NVIDIA's PTX ISA manual): barriers, warp barriers, fences and atomics
// order accesses, and whatever is left unordered in conflict is a data race.
//
//	order := race.NewOrder()
//	order.Launch()
//	block := order.NewBlock(64, false)
//	block.Start(0)
//	block.Access(shadow, race.Range{8, 4}, race.Access{Thread: 5, Kind: race.Write, Place: 17})
//	block.Meet(everyone, everyone) // a barrier
//	found := block.Access(shadow, race.Range{8, 4}, race.Access{Thread: 6, Place: 21}) // nil: the barrier is between them
//
// # How it works
//
// The machine executes one thread at a time, so there is one clock for all: the count of
// synchronisations so far. An access is stamped with the clock, and each thread has a View: up to when it
// knows the doings of each other thread. An earlier access is ordered before a later one where
// the later thread's view of the earlier thread is past the stamp. Barriers join the views of
// those who meet; a release leaves its view at an address, and an acquire joins it. As all
// threads of a block know each other equally after a barrier, views are small.
//
// Every stamp in a report is an access that did happen and was not ordered, so that reports are never false. A few
// races can be missed: a word remembers the last write and four readers (the last,
// and one each of its warp, of another warp, of another block); fences count for all scopes; streams and launches count as ordered.
//
// It knows no memory and no instructions: package machine tells it what happens.
package race
