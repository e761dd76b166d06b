// Package openai serves language models with the HTTP protocol of OpenAI: chat/completions, completions, responses and models. Answers can be
// streamed as server-sent events, and may have function calls. Responses are not stored.
//
//	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	err = http.ListenAndServe("localhost:8080", h)
//
// Clients for OpenAI's API work with the base URL http://localhost:8080/v1. The Handler also answers these requests:
//
//   - /tokenize and /detokenize convert between texts and tokens, as in vLLM.
//   - /health has status 503 when a model cannot generate texts. It needs no API key.
//   - /metrics has Prometheus metrics under vLLM's names. It needs no API key.
//
// The Handler of HandleEmbedders also serves embedding models at /v1/embeddings, and cross-encoders, which rank documents by their relevance to a
// query, at /v1/rerank, /v2/rerank, /rerank, /v1/reranking and /reranking. The metrics of these models have the names of Text Embeddings Inference.
//
// The server refuses a known field that it does not support, if the value would have an effect. It ignores unknown fields, like other servers of this
// protocol.
package openai
