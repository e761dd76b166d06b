package collective

import "github.com/gopherwarp/gopherwarp/gpu"

// Items is the constraint of arrays that hold a thread's elements.
type Items[T any] interface {
	[1]T | [2]T | [3]T | [4]T | [5]T | [6]T | [7]T | [8]T | [12]T | [16]T
}

// StripedToBlocked exchanges elements between the n threads of a block, from the striped to the blocked arrangement.
// In the striped arrangement, element k of thread i is element k*n + i of the block: neighboring threads have
// neighboring elements, as is best for accesses to global memory. In the blocked arrangement, element k of
// thread i is element i*len(items) + k of the block: each thread has consecutive elements. The buffer is in
// shared memory and has at least n*len(items) elements.
func StripedToBlocked[T any, A Items[T]](t gpu.Thread, items A, buffer []T) A {
	i, n := index(t), threads(t)
	for k := range len(items) {
		buffer[k*n+i] = items[k]
	}
	t.Sync()
	for k := range len(items) {
		items[k] = buffer[i*len(items)+k]
	}
	t.Sync()
	return items
}

// BlockedToStriped is the inverse of StripedToBlocked.
func BlockedToStriped[T any, A Items[T]](t gpu.Thread, items A, buffer []T) A {
	i, n := index(t), threads(t)
	for k := range len(items) {
		buffer[i*len(items)+k] = items[k]
	}
	t.Sync()
	for k := range len(items) {
		items[k] = buffer[k*n+i]
	}
	t.Sync()
	return items
}
