// Package model holds the models of tokenizers: byte-pair encoding, WordPiece,
// Unigram and WordLevel. A model turns a piece of text into tokens.
//
//	m, err := model.Parse([]byte(`{"type": "WordPiece", "unk_token": "[UNK]", "vocab": {...}}`))
//	tokens := m.Append(nil, "hello") // IDs, with offsets into the piece
//
// Models are safe for concurrent use.
package model
