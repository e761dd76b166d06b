// Package embedding copies rows of a table, given their indices: the embeddings of tokens.
//
//	shape := embedding.Shape{Tokens: n, Vocabulary: 128256, Columns: 4096}
//	err := embedding.Gather(s, shape, embedding.Operands[dtype.BF16, dtype.BF16]{Table: table, Indices: tokens, Out: x, Bad: bad})
//
// An index outside the table gives a row of zeros and is counted in Bad.
package embedding

//go:generate go tool kernelgen .
