package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
)

// failure is an error with its form in the protocol.
type failure struct {
	status      int
	message     string
	param, code string // may be empty
}

func (f failure) Error() string { return f.message }

// gone is the error of a client that has left, or that does not read.
type gone struct{ error }

// invalid returns the failure of a field's value.
func invalid(param, format string, args ...any) failure {
	return failure{status: http.StatusBadRequest, param: param, message: param + ": " + fmt.Sprintf(format, args...)}
}

// unsupported returns the failure of a field that asks for what the server does not do.
func unsupported(param string) failure {
	return failure{status: http.StatusBadRequest, param: param, code: "unsupported_parameter", message: param + " is not supported"}
}

// failureOf returns the failure that stands for an error.
func failureOf(err error) failure {
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return failure{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("the request has more than %d bytes", large.Limit)}
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, llm.ErrClosed): // by the server, or the client has left
		return failure{status: http.StatusServiceUnavailable, message: "the server is shutting down"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failure{status: http.StatusRequestTimeout, message: "the request took too long to arrive"}
	case errors.Is(err, llm.ErrContext):
		return failure{status: http.StatusBadRequest, code: "context_length_exceeded", message: err.Error()}
	case errors.Is(err, llm.ErrChat), errors.Is(err, chat.ErrRefused), errors.Is(err, chat.ErrMessage):
		return failure{status: http.StatusBadRequest, param: "messages", message: err.Error()}
	}
	return failure{status: http.StatusInternalServerError, message: err.Error()}
}

// kind returns the type of error in the protocol.
func (f failure) kind() string {
	switch f.status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		return "server_error"
	}
	return "invalid_request_error"
}

// body returns the failure in JSON.
func (f failure) body() []byte {
	type problem struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	p := problem{Message: f.message, Type: f.kind()}
	if f.param != "" {
		p.Param = &f.param
	}
	if f.code != "" {
		p.Code = &f.code
	}
	text, err := json.Marshal(map[string]problem{"error": p})
	if err != nil {
		return nil // strings can always be encoded
	}
	return text
}

// write answers a request. A client that has left learns nothing, so errors of writing are ignored.
func (f failure) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(f.body())
}
