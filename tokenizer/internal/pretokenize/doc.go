// Package pretokenize cuts normalized text into the pieces that the model
// tokenizes one by one. Parse returns a pre-tokenizer from its JSON object; a
// type that the package does not know is an error.
//
//	p, err := pretokenize.Parse([]byte(`{"type": "WhitespaceSplit"}`))
//	for piece := range p.Split(aligned.New("a bc", false)) {
//		fmt.Println(piece.S) // a, then bc
//	}
package pretokenize
