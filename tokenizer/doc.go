// Package tokenizer turns text into the token IDs of a language model, and IDs
// back into text. It reads the tokenizer.json of Hugging Face models and the
// metadata of GGUF files, and gives the same IDs as the Python package
// tokenizers. It does not train tokenizers.
//
//	t, err := tokenizer.Open("tokenizer.json")
//	if err != nil {
//		return err
//	}
//	ids := t.Encode("Hello, world!")
//	fmt.Println(t.Decode(ids))
//	end, ok := t.TokenID("<|im_end|>")
//
// A Tokenizer is safe for concurrent use. A file with a component that this
// package does not know is an error; the package never approximates one.
//
// Text need not be valid UTF-8. Tokenizers that work on bytes keep invalid
// bytes: for byte-level BPE without a normalizer, Decode(Encode(s)) is s for
// every s. Other tokenizers treat an invalid byte as an unknown character.
//
// The sections truncation and padding of a tokenizer.json have no effect;
// Options.MaxLength truncates, and batches need no padding.
package tokenizer
