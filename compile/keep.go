package compile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
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

// program returns an identifier of the running program, or an error if the program cannot be read.
var program = sync.OnceValues(func() ([sha256.Size]byte, error) {
	f, err := openProgram()
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	defer f.Close()
	return identity(f)
})

// buildIDBytes is the length of four parts of 20 characters with slashes in between.
const buildIDBytes = 4*20 + 3

// buildID returns what the go command writes near a program's beginning, four parts of 20 characters: the last is a hash of
// the program. It returns nil if a user has had something else put there.
func buildID(head []byte) []byte {
	for _, mark := range [...]string{"Go\x00\x00", "Go build ID: \""} { // in ELF, and elsewhere
		if _, rest, ok := bytes.Cut(head, []byte(mark)); ok && len(rest) >= buildIDBytes && isBuildID(rest[:buildIDBytes]) {
			return rest[:buildIDBytes]
		}
	}
	return nil
}

func isBuildID(id []byte) bool {
	for i, c := range id {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
		if slash := i%21 == 20; slash && c != '/' || !slash && !letter {
			return false
		}
	}
	return true
}

// identity returns a hash of a program's build ID, or of all that it is where it has none.
func identity(f io.Reader) (sum [sha256.Size]byte, err error) {
	head, err := io.ReadAll(io.LimitReader(f, 32<<10))
	if err != nil {
		return sum, err
	}
	if id := buildID(head); id != nil {
		return sha256.Sum256(id), nil
	}
	h := sha256.New()
	h.Write(head)
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// openProgram opens the running program. Linux has a name for it that stays its own when the
// file is replaced.
func openProgram() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// newBuildCache returns the cache for builds with the options o, or nil.
func newBuildCache(o Options, g *load.Graph) *buildCache {
	if o.Cache == "" || o.Trace != nil || os.Getenv(dumpVariable) != "" {
		return nil
	}
	compiler, err := program()
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
