// Package cache stores the files that builds generate in a directory, so that later builds can
// reuse them.
//
//	c := cache.Open(dir)
//	if e := c.Get(key); e != nil {
//		files, err := e.Files(nil)
//	}
//	c.Put(key, files)
//
// Equal keys must stand for equal files; the cache does not interpret keys. An entry is one file
// that begins with its key and a checksum; a truncated or corrupt file, or one with another key, is
// not an entry. Several processes may use a directory concurrently. The least recently used entries
// are removed when the directory grows too large. A directory that cannot be written is treated as
// empty.
package cache
