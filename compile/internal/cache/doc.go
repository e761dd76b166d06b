// Package cache keeps the files that builds made, in a folder, so that the next build need not
// make them again.
//
//	c := cache.Open(dir)
//	if e := c.Get(key); e != nil {
//		files, err := e.Files(nil)
//	}
//	c.Put(key, files)
//
// It does not know what a key is made of, but that equal keys stand for equal files. An entry is one
// file, with its key and a checksum in front: what is cut off, damaged or of another key is no
// entry. Any number of processes may use a folder at a time. What has not been used for longest is
// removed when the folder grows too large. A folder that cannot be written is an empty one.
package cache
