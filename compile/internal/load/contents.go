package load

import (
	"os"
	"sync"
)

// contents holds the files that were read. Each is read once: what was hashed is what is compiled,
// even where somebody edits files meanwhile.
type contents struct {
	mutex sync.Mutex
	files map[string]func() ([]byte, error)
}

// Read returns the contents of a file as they were when it was first asked for. They
// must not be changed.
func (g *Graph) Read(file string) ([]byte, error) {
	g.contents.mutex.Lock()
	once, ok := g.contents.files[file]
	if !ok {
		once = sync.OnceValues(func() ([]byte, error) { return os.ReadFile(file) })
		if g.contents.files == nil {
			g.contents.files = map[string]func() ([]byte, error){}
		}
		g.contents.files[file] = once
	}
	g.contents.mutex.Unlock()
	return once()
}
