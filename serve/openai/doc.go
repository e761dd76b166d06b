// Package openai serves language models with the HTTP protocol of OpenAI: chat/completions, completions, responses and models. Answers
// can be streamed as server-sent events, and may have calls of functions. Responses are not stored.
//
//	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	err = http.ListenAndServe("localhost:8080", h)
//
// Clients for OpenAI's API work with the base URL http://localhost:8080/v1.
//
// The Handler of HandleEmbedders also serves embedding models, which compute vectors of texts, at /v1/embeddings. It computes texts of
// concurrent requests together. It serves cross-encoders, which rank documents by their relevance to a query, at /v1/rerank and /rerank,
// in the form of Jina, Cohere and vLLM and in that of Text Embeddings Inference. The metrics of these models have the names of Text
// Embeddings Inference.
//
// POST /tokenize and /detokenize convert between texts and tokens, as in vLLM.
//
// GET /health has status 503 when a model cannot generate texts. GET /metrics has Prometheus metrics under vLLM's names. Neither path
// needs an API key.
//
// The server knows some fields that it does not support. It refuses a request in which such a field has a value that would have an effect.
// Like other servers of this protocol, it ignores fields that it does not know.
package openai
