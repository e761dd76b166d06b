// Package normalize holds the normalizers of tokenizer files: Unicode forms,
// lower case, accents, white space, replacements. Parse returns a normalizer
// from its JSON object; a type that the package does not know is an error.
//
//	n, err := normalize.Parse([]byte(`{"type": "Lowercase"}`))
//	t := n.Normalize(aligned.New("ABC", true))
//	fmt.Println(t.S) // abc
//
// Unicode properties are those of Go's Unicode version. A byte that is not part
// of valid UTF-8 passes through all normalizers except those that remove
// U+FFFD, which remove it too.
package normalize
