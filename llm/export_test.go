package llm

// Behind makes the model compute a token only after the host has read the one before, as on CPUs. It precedes the first text.
func (m *Model) Behind() { m.engine.ahead = false }

// Unread is the number of tokens of a text that may wait for their reader.
const Unread = unread

// Chunk changes the number of tokens of a step. It precedes the first text.
func (m *Model) Chunk(n int) { m.engine.chunk = n }

// Crowd changes the number of rows beside which prompts wait for others. It precedes the first text.
func (m *Model) Crowd(n int) { m.engine.crowd = n }
