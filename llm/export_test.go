package llm

// Behind makes the model compute a token only after the host has read the one before, as on CPUs.
func (m *Model) Behind() { m.ahead = false }
