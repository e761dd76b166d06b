// Package streamcopy copies memory that is too large for the processor's cache with non-temporal
// stores.
//
//	streamcopy.Copy(dst, src) // as copy(dst, src); the lengths must be equal
//
// An ordinary store first reads its cache line from memory and evicts another one, so half of the
// traffic of a large copy is wasted. On amd64, Copy stores past the cache, four pages at a time;
// on other architectures it is copy. It is faster than copy from about a megabyte on.
package streamcopy
