package cache

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxBytes is the size that a folder is cut back to: some hundred builds of a hundred kernels.
const maxBytes = 128 << 20

// suffix ends the names of entries.
const suffix = ".build"

// Cache is a folder with entries.
type Cache struct {
	dir   string
	limit int64 // of bytes in it
}

// Open returns the cache in dir, which is made when something is put there.
func Open(dir string) *Cache { return &Cache{dir: dir, limit: maxBytes} }

func (c *Cache) path(k Key) string { return filepath.Join(c.dir, hex.EncodeToString(k[:])+suffix) }

// Get returns the entry of a key, or nil if there is none that is whole.
func (c *Cache) Get(k Key) *Entry {
	text, err := os.ReadFile(c.path(k))
	if err != nil {
		return nil
	}
	e, err := decode(k, text)
	if err != nil {
		return nil
	}
	c.touch(k)
	return e
}

// touch notes that the entry is in use. Once an hour is exact enough.
func (c *Cache) touch(k Key) {
	now := time.Now()
	if info, err := os.Stat(c.path(k)); err == nil && now.Sub(info.ModTime()) > time.Hour {
		os.Chtimes(c.path(k), now, now) // where it fails, the entry is removed earlier
	}
}

// Put stores files under a key and replaces those that it has, if the directory can be written.
func (c *Cache) Put(k Key, files []File) error {
	text, err := encode(k, files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "new-*"+suffix)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(k))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Trim removes the least recently used entries until the directory is small enough. It keeps files
// that are not entries.
func (c *Cache) Trim() error {
	found, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var entries []fs.FileInfo
	size := int64(0)
	for _, f := range found {
		info, err := f.Info()
		if err != nil || !strings.HasSuffix(f.Name(), suffix) {
			continue // removed by another process, or not ours
		}
		entries, size = append(entries, info), size+info.Size()
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, e := range entries {
		if size <= c.limit {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		size -= e.Size()
	}
	return nil
}
