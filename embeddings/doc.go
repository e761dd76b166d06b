// Package embeddings computes vectors of texts, which are close to each other if the texts have similar meanings, with models of
// sentence-transformers: folders of Hugging Face with an encoder of the BERT family.
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
// The folder's modules.json says how vectors are computed from the activations of a text's tokens, and whether they have length 1. Texts
// are computed together, without padding.
package embeddings
