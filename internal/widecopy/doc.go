// Package widecopy copies memory that is too large for the processor's cache, past it.
//
//	widecopy.Copy(dst, src) // as copy(dst, src), which must have the same length
//
// An ordinary store reads its cache line from memory first, and pushes out what others have in
// the cache; half of what a large copy moves is moved for nothing. On amd64 Copy stores past the
// cache, four pages at once; elsewhere it is copy. It pays from about a megabyte on.
package widecopy
