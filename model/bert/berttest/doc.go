// Package berttest writes small models of the BERT family with random weights, for tests.
//
//	folder := berttest.WriteFolder(t, berttest.Options{})
//	m, err := embeddings.Open(dev, folder, embeddings.Options{})
package berttest
