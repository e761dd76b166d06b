// Package page is a web page on which people talk to the models of a server, and see what the server does. It is plain HTML, CSS and
// JavaScript in the binary, and loads nothing from other servers. It uses the paths of serve/openai on the same server: /v1/models,
// /v1/chat/completions and /metrics.
//
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g)) // g is a *gate.Gate
//	mux.Handle("GET /{$}", page.Handler())
//	mux.Handle("GET /page/", page.Handler())
//	err := http.ListenAndServe("localhost:8080", mux)
//
// The page itself needs no API key. If the server needs one, the page asks for it, and keeps it until the tab is closed.
package page
