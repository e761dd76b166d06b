// Package page serves two web pages. One is for chats with the language models of a server, and also shows the state of these models. The
// other shows the GPUs, and all models with their queues and times. The pages' HTML, CSS and JavaScript are part of the binary, and load
// nothing from other servers. The pages use the paths /v1/models, /v1/chat/completions, /health and /metrics of serve/openai on the same
// server.
//
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g)) // g is a *gate.Gate
//	mux.Handle("GET /{$}", page.Handler())
//	mux.Handle("GET /page/", page.Handler())
//	err := http.ListenAndServe("localhost:8080", mux)
//
// The pages themselves need no API key. If the server needs an API key, the page for chats asks for the key, and keeps it until the tab is
// closed.
package page
