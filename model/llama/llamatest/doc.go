// Package llamatest writes small models with random weights for tests.
//
//	path := llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1})
//	m, err := llm.Open(dev, path, llm.Options{})
//
// The models have two layers and tokens for all bytes. What they generate has no meaning, but it is always the same.
package llamatest
