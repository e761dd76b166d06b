package llm

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
)

// Behind makes the model compute a token only after the host has read the one before, as on CPUs. It precedes the first text.
func (m *Model) Behind() { m.engine.ahead = false }

// Ahead makes the model compute a token before the host has read the one before, as on GPUs. It precedes the first text.
func (m *Model) Ahead() { m.engine.ahead = true }

// Unread is the number of tokens of a text that may wait for their reader.
const Unread = unread

// Chunk changes the number of tokens of a step. It precedes the first text.
func (m *Model) Chunk(n int) { m.engine.chunk = n }

// Crowd changes the number of rows beside which prompts wait for others. It precedes the first text.
func (m *Model) Crowd(n int) { m.engine.crowd = n }

// Interfere makes the model call f in each of its computations, before the first kernel. It precedes the first text.
func (m *Model) Interfere(f func(s *device.Stream) error) {
	begin := m.engine.decoder.Started
	m.engine.decoder.Started = func() error { return errors.Join(f(m.engine.stream), begin()) }
}

// Batch changes the number of tokens that are computed at once.
func (e *Embedder) Batch(n int) { e.batch = n }
