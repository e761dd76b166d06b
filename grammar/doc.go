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
// If the program chooses only allowed tokens, every completed text satisfies the schema. If a part of a schema cannot be enforced exactly, Schema
// returns an error that names this part. Mask returns ErrStuck if no token is allowed. This can happen if a schema combines a complex pattern with a
// bound on the length.
//
// # Documents
//
// JSON allows several forms of the same document. The package allows only forms that all parsers read in the same way:
//
//   - The members of an object have the order of the schema; members that the schema does not name follow.
//   - Between values, there is nothing, a space, or a line break with indentation.
//   - Strings that the schema restricts, and names of members, have escape sequences only where they are necessary.
//   - Numbers that the schema restricts have no exponent, and integers have no decimal point.
//
// # Schemas
//
// The package supports JSON Schema of the drafts 4, 6, 7, 2019-09 and 2020-12, with these limits:
//
//   - Dynamic references and references to other documents are not supported.
//   - unevaluatedProperties and unevaluatedItems are not supported in a schema that also has keywords such as allOf or $ref.
//   - The keywords "not", "oneOf" and "if" are supported only if the package can negate all keywords in their schemas. It cannot negate
//     "format", for example.
//   - uniqueItems is supported only for arrays whose elements are chosen from at most ten values: strings, Booleans or null.
//   - Patterns must not have back references, lookbehind or word boundaries.
//   - The format "regex" is not supported. The package enforces the other formats of the specification.
//   - Unknown formats and unknown keywords, such as OpenAPI's nullable, have no effect.
package grammar
