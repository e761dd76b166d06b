// Package rerank sorts documents by their relevance to a query. A cross-encoder reads the query together with each document. This is more exact than
// a comparison of vectors (package embeddings), and takes longer. A search usually finds candidates with vectors, and reranks the best of them.
//
//	m, err := rerank.Open(dev, "ms-marco-MiniLM-L-6-v2", rerank.Options{})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	scores, err := m.Rank(ctx, "How many people live in Berlin?", documents...)
//	if err != nil {
//		return err
//	}
//	fmt.Println(documents[scores[0].Index])
//
// The models are those of sentence-transformers' CrossEncoder: folders of Hugging Face with a classification head and one label, in the
// architectures of BERT, RoBERTa, XLM-RoBERTa and CamemBERT. Examples are ms-marco-MiniLM-L-6-v2, bge-reranker-base and bge-reranker-v2-m3.
package rerank
