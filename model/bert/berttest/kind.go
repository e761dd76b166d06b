package berttest

// kind is what models of a type have in common.
type kind struct {
	name, class string // the model_type, and the beginning of the architectures' names
	prefix      string // of the names of the tensors of the encoder of a model with a head
	pooler      bool   // the first layer of the head is the encoder's pooler
	scores      string // the name of the head's last layer
	tokenizer   func() map[string]any

	vocabulary, positions, types, padding int
}

// kindOf returns the kind with a model_type.
func kindOf(name string) kind {
	relative := kind{
		name: name, prefix: "roberta.", scores: "classifier.out_proj", tokenizer: unigram, vocabulary: len(unigramWords), positions: 2 + Positions, types: 1, padding: 1,
	}
	switch name {
	case "roberta":
		relative.class, relative.tokenizer, relative.vocabulary = "Roberta", byteLevel, len(byteWords())
	case "xlm-roberta":
		relative.class = "XLMRoberta"
	case "camembert":
		relative.class = "Camembert"
	default:
		return kind{
			name: "bert", class: "Bert", prefix: "bert.", pooler: true, scores: "classifier", tokenizer: wordPiece,
			vocabulary: Vocabulary(), positions: Positions, types: Types,
		}
	}
	return relative
}
