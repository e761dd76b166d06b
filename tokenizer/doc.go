// Package tokenizer turns text into the token IDs of a language model, and IDs back into text. It reads the tokenizer.json of Hugging Face models and
// the metadata of GGUF files. The IDs are the same as those of the Python package tokenizers.
//
//	t, err := tokenizer.Open("tokenizer.json")
//	if err != nil {
//		return err
//	}
//	ids := t.Encode("Hello, world!")
//	fmt.Println(t.Decode(ids))
//	end, ok := t.TokenID("<|im_end|>")
//
// A Tokenizer is safe for concurrent use. If a file has a component that this package does not support, opening it returns an error.
//
// Text need not be valid UTF-8. For byte-level BPE without a normalizer and without added tokens, Decode(Encode(s)) is s for every s. Other
// tokenizers treat an invalid byte as an unknown character.
//
// The sections truncation and padding of a tokenizer.json have no effect; Options.MaxLength truncates.
package tokenizer
