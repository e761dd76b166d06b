package peers

import (
	"bytes"
	"strings"
	"sync"
)

// tail keeps the end of a process's error output.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// kept is the number of bytes that a tail keeps.
const kept = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = bytes.Clone(t.text[max(0, len(t.text)-kept):])
	return len(p), nil
}

// last returns the last line that is not empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
