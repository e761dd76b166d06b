package openai

import (
	"encoding/json"
	"net/http"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// kindOf returns the type of error in the protocol.
func kindOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "server_error"
	}
	return "invalid_request_error"
}

// problem is the protocol's form of an error.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// problemOf returns a failure in the form of the protocol.
func problemOf(f gate.Failure) map[string]problem {
	p := problem{Message: f.Message, Type: kindOf(f.Status)}
	if f.Param != "" {
		p.Param = &f.Param
	}
	if f.Code != "" {
		p.Code = &f.Code
	}
	return map[string]problem{"error": p}
}

// write answers a request. A client that has left learns nothing, so errors of writing are ignored.
func write(w http.ResponseWriter, f gate.Failure) {
	w.Header().Set("Content-Type", "application/json")
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(problemOf(f))
}
