// Package gatetest makes almost valid bodies of requests, for tests of handlers.
//
//	for _, body := range gatetest.Odd(`{"prompt": "a", "n": 1}`) {
//		h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
//	}
package gatetest
