// Package grammar restricts the texts of a language model to JSON documents that satisfy a schema, or to the texts that a regular expression matches.
//
//	g, err := grammar.Schema([]byte(`{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`))
//	v := grammar.NewVocabulary(tok, ends) // once for a tokenizer
//	m := g.NewMatcher(v)
//	mask := make([]uint32, v.Words())
//	for !m.Ended() {
//		err := m.Mask(mask)         // bit i%32 of mask[i/32] allows token i
//		err = m.Accept(sample(mask)) // the token that the model chose
//	}
//
// If the program chooses only allowed tokens, each text that ends satisfies the schema. If a part of a schema cannot be enforced exactly, Schema
// returns an error that names this part. Mask returns ErrStuck if it finds no allowed token. This can happen if a schema combines a complex pattern
// with a bound on the length.
//
// # Documents
//
// Of the documents that satisfy a schema, only those of the following form are allowed. Parsers of all languages read them in the same way:
//
//   - The members of an object come in the order in which the schema names them; members that the schema does not name follow.
//   - Values are separated by nothing, by a space, or by a line break and its indentation.
//   - In strings that the schema restricts, and in names of members, there are escape sequences only where they are necessary.
//   - Numbers that the schema restricts have no exponent, and integers have no point.
//
// # Schemas
//
// The package supports JSON Schema of the drafts 4, 6, 7, 2019-09 and 2020-12, with these limits:
//
//   - Dynamic references and references to other documents are not supported.
//   - unevaluatedProperties and unevaluatedItems are not supported in a schema that also has keywords such as allOf or $ref.
//   - The keywords not, oneOf and if are supported only if the package can negate all keywords in their schemas. It cannot negate format,
//     for example.
//   - uniqueItems is supported only for arrays whose elements are chosen from at most ten strings, Booleans and null.
//   - Patterns must not have back references, lookbehind or word boundaries.
//   - The format regex is an error. The other formats that the specification defines are enforced.
//   - Other formats and unknown keywords, such as OpenAPI's nullable, have no effect.
package grammar
