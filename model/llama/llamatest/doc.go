// Package llamatest writes small models with random weights for tests.
//
//	path := llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1})
//	m, err := llm.Open(dev, path, llm.Options{})
//
// The models have two layers and a token for each byte. The generated text has no meaning, but is always the same.
package llamatest
