package compile

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/compile/internal/cache"
	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
)

// A buildCache holds what earlier builds made. It is nil if nothing is cached.
//
// A package's files are keyed by a hash of all that they depend on: the sources of the package and of
// all that it imports, the options, and the compiler, which is the running program. Only builds
// without diagnostics are cached.
type buildCache struct {
	cache   *cache.Cache
	sums    *load.Sums
	options []byte
	rebuild bool        // nothing is looked up
	grown   atomic.Bool // something was put there
	mutex   sync.Mutex  // of sums
}

// newBuildCache returns the cache for builds with the options o, or nil.
func newBuildCache(o Options, g *load.Graph) *buildCache {
	if o.Cache == "" || o.Trace != nil || os.Getenv(dumpVariable) != "" {
		return nil
	}
	compiler, err := cache.Program()
	if err != nil {
		return nil
	}
	options, err := json.Marshal([]any{compiler, o.Twins, o.Contract, o.Checks})
	if err != nil {
		return nil
	}
	return &buildCache{cache: cache.Open(o.Cache), sums: load.NewSums(g, decl.Mentions), options: options, rebuild: o.Rebuild}
}

// key returns what a package's files are kept by. It reports false if they are not.
func (k *buildCache) key(p *load.Package) (cache.Key, bool) {
	k.mutex.Lock()
	sum, err := k.sums.Of(p)
	k.mutex.Unlock()
	if err != nil {
		return cache.Key{}, false
	}
	return sha256.Sum256(slices.Concat(k.options, []byte(p.ImportPath), sum[:])), true
}

// recall sets the files of a package that was built before. It reports false if it was not.
func (k *buildCache) recall(u *unit) bool {
	if k == nil || k.rebuild {
		return false
	}
	key, ok := k.key(u.pkg)
	if !ok {
		return false
	}
	entry := k.cache.Get(key)
	if entry == nil {
		return false
	}
	kept, err := entry.Files(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(u.pkg.Dir, name)) })
	if err != nil {
		return false
	}
	for _, f := range kept {
		u.kept = append(u.kept, File{Name: filepath.Join(u.pkg.Dir, f.Name), Contents: f.Contents, Place: Place(f.Label)})
	}
	return len(kept) > 0
}

// keep remembers the files of u, which has no diagnostics. That a folder cannot be written is no
// reason to fail. It may be called by several goroutines.
func (k *buildCache) keep(u *unit) {
	if k == nil {
		return
	}
	var files []cache.File
	for _, f := range u.made.Files {
		name, err := filepath.Rel(u.made.Dir, f.Name)
		if err != nil {
			return
		}
		files = append(files, cache.File{Name: name, Contents: f.Contents, Label: string(f.Place)})
	}
	if len(files) == 0 {
		return
	}
	if key, ok := k.key(u.pkg); ok {
		if k.cache.Put(key, files) == nil {
			k.grown.Store(true)
		}
	}
}

// trim cuts the folder back to its size.
func (k *buildCache) trim() {
	if k != nil && k.grown.Load() {
		k.cache.Trim() // where it fails, the next build tries again
	}
}
