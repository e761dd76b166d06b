// Package grammar restricts the texts of a language model to JSON documents that satisfy a schema, or to the texts of a regular
// expression.
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
// Whatever tokens are chosen among the allowed ones, each text that ends satisfies the schema. A schema that cannot be enforced exactly
// is an error that says which part of it. With a complex pattern beside a bound of the length, a text may come to a place that no token can
// continue, which is ErrStuck: the search for what can still follow is limited.
//
// # Documents
//
// Documents of a schema are a subset of those that satisfy it, in which the parser of each language finds the same:
//
//   - The members of an object come in the order in which the schema names them; others follow.
//   - Between values there is nothing, a space, or a new line with its indentation.
//   - Strings that the schema restricts, and names of members, have escape sequences only where they are necessary.
//   - Numbers that the schema restricts have no exponent, and integers have no point.
//
// # Schemas
//
// JSON Schema of draft 2020-12 and of the drafts 4, 6, 7 and 2019-09: all keywords, but dynamic references, references to other
// documents, and unevaluatedProperties and unevaluatedItems beside keywords that apply schemas. The following are supported
// within limits: not, oneOf and if where the negation of their schemas is a schema; uniqueItems for a few strings; patterns without
// back references, lookbehind and word boundaries. The formats that the specification defines are enforced, without regex; other formats
// and unknown keywords are annotations, such as OpenAPI's nullable.
package grammar
