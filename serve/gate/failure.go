package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// Failure is an error of a request.
type Failure struct {
	Status      int              // the HTTP status
	Message     string           // the message for the client
	Param, Code string           // the field at fault, and OpenAI's name of the error; each may be empty
	Long        llm.ContextError // set if the prompt leaves no room in the context
	Retry       time.Duration    // the time after which the client may send the request again; 0 if unknown
}

// Error returns the message.
func (f Failure) Error() string { return f.Message }

// Invalid returns the Failure for an invalid value of the field that param names.
func Invalid(param, format string, args ...any) Failure {
	return Failure{Status: http.StatusBadRequest, Param: param, Message: param + ": " + fmt.Sprintf(format, args...)}
}

// NoContent returns the Failure for message i of a conversation, which lacks the content that only a message of the assistant may lack.
func NoContent(param string, i int) Failure {
	return Invalid(fmt.Sprintf("%s[%d].content", param, i), "there is none, which only a message of the assistant may have")
}

// Unsupported returns the Failure for a field that the server does not support.
func Unsupported(param string) Failure {
	return Failure{Status: http.StatusBadRequest, Param: param, Code: "unsupported_parameter", Message: param + " is not supported"}
}

// FailureOf converts an error to a Failure.
func FailureOf(err error) Failure {
	if f, ok := errors.AsType[Failure](err); ok {
		return f
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Failure{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request has more than %d bytes", large.Limit)}
	}
	if failed, ok := errors.AsType[*repository.LoadError](err); ok {
		return Failure{Status: http.StatusServiceUnavailable, Code: "model_not_loaded", Message: err.Error(), Retry: failed.Retry}
	}
	switch {
	case errors.Is(err, ErrLeft):
		return Failure{Status: StatusLeft, Message: "the client has left"}
	case errors.Is(err, batch.ErrFull):
		return Failure{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "too many texts are waiting"}
	case errors.Is(err, context.Canceled), errors.Is(err, llm.ErrClosed), errors.Is(err, batch.ErrClosed), errors.Is(err, repository.ErrClosed): // by the server
		return Failure{Status: http.StatusServiceUnavailable, Message: "the server is shutting down"}
	case errors.Is(err, repository.ErrLoading):
		return Failure{Status: http.StatusServiceUnavailable, Code: "model_not_loaded", Message: err.Error(), Retry: time.Second}
	case errors.Is(err, context.DeadlineExceeded):
		return Failure{Status: http.StatusGatewayTimeout, Message: "the answer took too long"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Failure{Status: http.StatusRequestTimeout, Message: "the request took too long to arrive"}
	case errors.Is(err, llm.ErrBusy):
		return Failure{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: err.Error()}
	case errors.Is(err, llm.ErrDevice):
		return Failure{Status: http.StatusServiceUnavailable, Message: err.Error()}
	case errors.Is(err, llm.ErrContext):
		f := Failure{Status: http.StatusBadRequest, Code: "context_length_exceeded", Message: err.Error()}
		if long, ok := errors.AsType[*llm.ContextError](err); ok {
			f.Long = *long
		}
		return f
	case errors.Is(err, llm.ErrRequest), errors.Is(err, llm.ErrAdapter):
		return Failure{Status: http.StatusBadRequest, Message: err.Error()}
	case errors.Is(err, grammar.ErrStuck):
		return Failure{Status: http.StatusBadRequest, Param: "response_format", Message: err.Error()}
	case errors.Is(err, llm.ErrChat), errors.Is(err, chat.ErrRefused), errors.Is(err, chat.ErrMessage):
		return Failure{Status: http.StatusBadRequest, Param: "messages", Message: err.Error()}
	}
	return Failure{Status: http.StatusInternalServerError, Message: err.Error()}
}
