// Package bert runs text encoders of the architectures BERT, RoBERTa, XLM-RoBERTa and CamemBERT, such as MiniLM and bge-m3, from safetensors
// files with a config.json (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding").
//
//	text, err := os.ReadFile("all-MiniLM-L6-v2/config.json")
//	config, err := bert.ParseConfig(text)
//	file, err := formats.Open("all-MiniLM-L6-v2")
//	m, err := bert.Load(stream, file, config, bert.LoadOptions{})
//	defer m.Close()
//	err = tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//		batch, err := m.NewBatch(s, tokens...) // a []int32 for each text
//		if err != nil {
//			return err
//		}
//		vectors, err := tensor.Values[float32](ctx, batch.Pool(m.Forward(batch), bert.Mean, true))
//		...
//	})
//
// An Encoder computes the same vectors, with less work for the host if batches are small:
//
//	e := bert.NewEncoder(stream, m, bert.Pooling{Method: bert.Mean, Unit: true})
//	defer e.Close()
//	vectors, err := e.Vectors(ctx, tokens...)
//
// A Classifier computes the scores of pairs of texts with the classification head of a cross-encoder.
//
// Each token attends to all tokens of its text. Packages embeddings and rerank take texts instead of tokens.
package bert
