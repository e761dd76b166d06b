// Package race decides whether two accesses to a memory word are ordered, for the PTX memory model (chapter 8 of NVIDIA's PTX ISA
// manual): barriers, warp barriers, fences and atomics order accesses, and conflicting accesses that are not ordered are a data
// race.
//
//	order := race.NewOrder()
//	order.Launch(false)
//	block := order.NewBlock(64, false)
//	block.Start(0)
//	block.Access(shadow, race.Range{8, 4}, race.Access{Thread: 5, Kind: race.Write, Place: 17})
//	block.Meet(everyone, everyone) // a barrier
//	found := block.Access(shadow, race.Range{8, 4}, race.Access{Thread: 6, Place: 21}) // nil: the barrier is between them
//
// # How it works
//
// The machine executes one thread at a time, so there is one clock: the number of synchronizations so
// far. Each access is stamped with the clock, and each thread has a View: for each other thread, the time
// up to which it has observed that thread's accesses. An earlier access is ordered before a later one if
// the later thread's view of the earlier thread is past the stamp. A barrier joins the views of its
// threads; a release stores the thread's view at an address, and an acquire joins it. Views are small
// because a barrier gives all threads of a block equal views.
//
// There are no false reports: every reported stamp is an access that happened and was not ordered. A few races can be missed: a word
// records only the last write and four readers (the last one, and one each of its warp, of another warp and of another block),
// fences are treated as having the widest scope, and streams and launches are treated as ordered (see Unfinished for the exception).
//
// The package does not depend on the memory or instructions of package machine, which reports
// accesses to it.
package race
