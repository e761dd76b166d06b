package llm

// Behind makes the model compute a token only after the host has read the one before, as on CPUs. It precedes the first text.
func (m *Model) Behind() { m.engine.ahead = false }
