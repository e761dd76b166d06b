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
// is an error that names the part that cannot. If a schema combines a complex pattern with a bound on the length, a text may reach a point where
// no token is allowed, because the search for continuations is limited. Mask then returns ErrStuck.
//
// # Documents
//
// Not all documents that satisfy a schema are allowed, but only those of this form, which parsers of all languages read alike:
//
//   - The members of an object come in the order in which the schema names them; others follow.
//   - Between values there is nothing, a space, or a new line with its indentation.
//   - Strings that the schema restricts, and names of members, have escape sequences only where they are necessary.
//   - Numbers that the schema restricts have no exponent, and integers have no point.
//
// # Schemas
//
// JSON Schema of draft 2020-12 and of the drafts 4, 6, 7 and 2019-09: all keywords are supported, except dynamic references, references to
// other documents, and unevaluatedProperties and unevaluatedItems in a schema that also has keywords such as allOf or $ref. The following are supported
// within limits: not, oneOf and if, unless their schemas have keywords whose negation is not supported, such as format; uniqueItems for a few strings; patterns without
// back references, lookbehind and word boundaries. The formats that the specification defines are enforced, except the format regex, which is an error; other formats
// and unknown keywords are annotations, such as OpenAPI's nullable.
package grammar
