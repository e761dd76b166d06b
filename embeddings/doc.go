// Package embeddings computes vectors of texts. Texts with similar meanings have vectors with similar directions. The models are those of
// sentence-transformers: folders of Hugging Face with an encoder of the BERT family, which includes RoBERTa, XLM-RoBERTa and CamemBERT.
// Examples are all-MiniLM-L6-v2, all-distilroberta-v1, multilingual-e5-small and bge-m3.
//
//	m, err := embeddings.Open(dev, "models/all_minilm_l6_v2", embeddings.Options{})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	vectors, err := m.Embed(ctx, "The cat sits outside.", "A man plays the guitar.")
//	if err != nil {
//		return err
//	}
//	fmt.Println(embeddings.Similarity(vectors[0], vectors[1]))
//
// The folder's modules.json defines the pooling, which turns the activations of a text's tokens into a vector, and whether vectors are scaled to
// length 1. The texts of a batch are computed together, without padding.
package embeddings
